# SPDX-License-Identifier: Apache-2.0
"""Lists of devices."""

from simpler._peal.missing import missing as _missing


def device_range_to_list(text):
    """ "0", "0-3", "0,2-4": sorted, each once; "" is none."""
    found = set()
    for part in filter(None, (p.strip() for p in text.split(","))):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return sorted(found)


__getattr__ = _missing("simpler_setup.parallel_scheduler")
