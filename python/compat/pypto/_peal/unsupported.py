# SPDX-License-Identifier: Apache-2.0
"""What is not here is refused by name."""

from peal._layers import LIST, missing  # noqa: F401
