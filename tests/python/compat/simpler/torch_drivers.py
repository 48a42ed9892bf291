# SPDX-License-Identifier: Apache-2.0
"""The drivers on tensors of torch itself."""

import os
import sys

import torch  # noqa: F401

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_driver_calls import *  # noqa: E402,F401,F403
from test_driver_collectives import *  # noqa: E402,F401,F403
from test_scenes import *  # noqa: E402,F401,F403
from test_drivers import *  # noqa: E402,F401,F403
