# SPDX-License-Identifier: Apache-2.0
"""Names of platforms."""

from simpler._peal.missing import missing as _missing

PLATFORMS = ("a2a3", "a2a3sim", "a5", "a5sim")


def parse_platform(platform):
    """("a2a3" or "a5", "onboard" or "sim")"""
    if platform not in PLATFORMS:
        raise ValueError(f"platform: expected {', '.join(PLATFORMS)}, found {platform!r}")
    return platform.removesuffix("sim"), "sim" if platform.endswith("sim") else "onboard"


__getattr__ = _missing("simpler_setup.platform_info")
