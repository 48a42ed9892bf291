# SPDX-License-Identifier: Apache-2.0
"""Where the headers of the tile ISA are: inside Peal."""

from peal._unsupported import missing as _missing

PATH = "peal/include/pto"


def ensure_pto_isa_root(commit=None, clone_protocol="ssh", update_if_exists=False, verbose=False):
    """A path that is only passed back: nothing is fetched."""
    return PATH


__getattr__ = _missing(__name__)
