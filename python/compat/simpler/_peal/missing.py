# SPDX-License-Identifier: Apache-2.0
"""What is not here is refused by name."""

from peal import _layers


def missing(module):
    """A module's `__getattr__`; drivers import names."""
    return _layers.missing(module, ImportError)
