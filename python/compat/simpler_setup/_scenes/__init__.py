# SPDX-License-Identifier: Apache-2.0
"""Scene tests: what a class says of itself becomes a worker, its callables, and runs that are compared."""
