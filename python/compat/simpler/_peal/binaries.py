# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels and shims, as bytes that drivers pass on. The bytes name what this process has compiled."""

import hashlib

_made = {}  # bytes -> what was compiled
_MARK = b"peal:"


def bytes_of(compiled, library):
    with open(library, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    name = _MARK + digest.encode() + b":" + compiled.path.encode()
    _made[name] = compiled
    return name


def compiled_from(binary, kind, what):
    found = _made.get(bytes(binary))
    if not isinstance(found, kind):
        raise ValueError(f"{what}: expected what KernelCompiler of this program returned, found {len(binary)} other bytes")
    return found
