# SPDX-License-Identifier: Apache-2.0
"""Names of platforms."""

from peal._layers import PLATFORMS, checked_platform as _checked_platform  # noqa: F401
from peal._unsupported import missing as _missing


def parse_platform(platform):
    """("a2a3" or "a5", "onboard" or "sim")"""
    platform = _checked_platform(platform)
    return platform.removesuffix("sim"), "sim" if platform.endswith("sim") else "onboard"


__getattr__ = _missing(__name__)
