# SPDX-License-Identifier: Apache-2.0
"""Kernels for hardware are cut out of object files; Peal's are used as they are."""

from peal._unsupported import missing as _missing


def extract_text_section(path_or_bytes):
    if isinstance(path_or_bytes, (bytes, bytearray)):
        return bytes(path_or_bytes)
    with open(path_or_bytes, "rb") as file:
        return file.read()


__getattr__ = _missing(__name__)
