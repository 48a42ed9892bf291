# SPDX-License-Identifier: Apache-2.0
"""Prove a kernel of one's own, and see how a hasty one breaks.

    PYTHONPATH=$(peal python-path) python3 examples/python/prove.py [picture.svg]
"""

import sys
from pathlib import Path

import peal

EXAMPLES = Path(__file__).parents[1]

report = peal.check(EXAMPLES / "mesh_allreduce.peal", ranks=range(2, 9), expect="allreduce")
print(report.text)
assert report

report = peal.check(EXAMPLES / "broken" / "hasty_allreduce.peal", ranks=2, expect="allreduce")
race = report.violations[0]
print(f"{race.kind} on {race.memory}, between lines {race.lines[0]} and {race.lines[1]}:")
for step in race.schedule:
    print(f"  {step.text}")
if len(sys.argv) > 1:
    Path(sys.argv[1]).write_text(report.svg())
