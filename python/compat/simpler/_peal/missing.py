# SPDX-License-Identifier: Apache-2.0
"""What is not here is refused by name."""

LIST = "docs/compatibility.md"


def missing(module):
    """A module's `__getattr__`: says what is missing, and where the list of what is there stands."""

    def lookup(name):
        words = f"{module}.{name} is not supported by Peal; {LIST} lists what is"
        # `from module import name` shows an ImportError, and would hide an AttributeError.
        raise AttributeError(words) if name.startswith("__") else ImportError(words, name=module)

    return lookup
