# SPDX-License-Identifier: Apache-2.0
"""The limits of tasks, where tests look for them."""

from peal._unsupported import missing as _missing

from .task_interface import COMM_MAX_RANK_NUM, MAX_REGISTERED_CALLABLE_IDS, MAX_TENSOR_DIMS  # noqa: F401

__getattr__ = _missing(__name__)
