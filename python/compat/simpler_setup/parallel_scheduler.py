# SPDX-License-Identifier: Apache-2.0
"""Lists of devices."""

from peal._unsupported import missing as _missing


def device_range_to_list(text):
    """ "0", "0-3", "0,2-4": sorted, each once; "" is none."""
    found = set()
    for part in filter(None, (p.strip() for p in text.split(","))):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return sorted(found)


__getattr__ = _missing(__name__)
