# SPDX-License-Identifier: Apache-2.0
"""The parser's public part: its errors, in `diagnostics`."""
