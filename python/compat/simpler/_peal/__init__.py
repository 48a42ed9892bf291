# SPDX-License-Identifier: Apache-2.0
"""What the modules of `simpler` and `simpler_setup` have in common."""
