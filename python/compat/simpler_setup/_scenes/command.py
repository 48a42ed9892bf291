# SPDX-License-Identifier: Apache-2.0
"""A file of scenes as a program: `scene.py -p a2a3sim -d 0-3`."""

import argparse
import sys

from ..parallel_scheduler import device_range_to_list
from ..platform_info import PLATFORMS
from .cases import MANUAL, Chosen, largest, run_case
from .workers import for_scene

IGNORED_VALUES = ("--log-level", "--enable-chip-swimlane", "--dump-args")
IGNORED_SWITCHES = ("--enable-dep-gen", "--enable-pmu", "--enable-scope-stats", "--enable-swimlane-overhead")


def main(scenes, arguments=None):
    """The exit status: 0, 1 if a case failed, 2 if it cannot be done."""
    options = _parser().parse_args(arguments)
    chosen = Chosen(options.platform, options.case, options.manual, options.rounds, options.skip_golden)
    devices = device_range_to_list(options.device)
    work = [(cls, chosen.cases_of(cls)) for cls in scenes]
    if not any(cases for _, cases in work):
        print("no case is selected", file=sys.stderr)
        return 2
    for cls, cases in work:
        needed = largest(cases, "device_count", 1)
        if cases and needed > len(devices):
            print(f"{cls.__name__} needs {needed} devices, --device has {len(devices)}", file=sys.stderr)
            return 2
    failed = False
    for cls, cases in work:
        if failed and options.exitfirst:
            break
        failed |= cases != [] and not _run(cls, cases, chosen, devices, options.exitfirst)
    return 1 if failed else 0


def _run(cls, cases, chosen, devices, stops):
    """Whether all of them passed."""
    passed = True
    with for_scene(cls, cases, chosen.platform, devices) as worker:
        for case in cases:
            try:
                run_case(cls(), worker, case, chosen)
                print(f"{cls.__name__}::{case['name']} PASSED")
            except Exception as error:
                print(f"{cls.__name__}::{case['name']} FAILED: {error}")
                passed = False
                if stops:
                    break
    return passed


def _parser():
    parser = argparse.ArgumentParser()
    parser.add_argument("-p", "--platform", required=True, choices=PLATFORMS)
    parser.add_argument("-d", "--device", default="0", help="devices: 0, 0-3 or 0,2-4")
    parser.add_argument("--case", action="append", help="case, Class::case or Class::")
    parser.add_argument("--manual", choices=MANUAL, default="exclude")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--skip-golden", action="store_true")
    parser.add_argument("-x", "--exitfirst", action="store_true")
    for name in IGNORED_VALUES:
        parser.add_argument(name, nargs="?", help="accepted and ignored")
    for name in IGNORED_SWITCHES:
        parser.add_argument(name, action="store_true", help="accepted and ignored")
    return parser
