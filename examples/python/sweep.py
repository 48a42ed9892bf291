# SPDX-License-Identifier: Apache-2.0
"""A sweep: the notifies that each recipe of allreduce needs, by ranks, as a plot.

    PYTHONPATH=$(peal python-path) python3 examples/python/sweep.py plot.svg
"""

import sys
from pathlib import Path

import peal

RANKS = list(range(2, 13))
RECIPES = ["mesh", "ring", "pipeline"]
COLOURS = ["#1b6ca8", "#c8553d", "#3a7d44"]


def notifies(recipe: str, ranks: int) -> int:
    plans = peal.compile("allreduce", ranks, recipe=recipe, count=64)
    return sum(str(plan).count("notify") for plan in plans)


def svg(series: dict[str, list[int]]) -> str:
    width, height, edge = 640, 360, 48
    most = max(max(values) for values in series.values())
    lines = []
    for (name, values), colour in zip(series.items(), COLOURS):
        points = " ".join(
            f"{edge + i * (width - 2 * edge) / (len(RANKS) - 1):.1f},"
            f"{height - edge - value * (height - 2 * edge) / most:.1f}"
            for i, value in enumerate(values)
        )
        y = edge + 18 * len(lines) // 2
        lines.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        lines.append(f'<text x="{edge + 8}" y="{y}" fill="{colour}">{name}</text>')
    axis = f'<text x="{width / 2}" y="{height - 12}">ranks {RANKS[0]} to {RANKS[-1]}</text>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" font-size="13">{axis}{"".join(lines)}</svg>\n'
    )


counted = {recipe: [notifies(recipe, ranks) for ranks in RANKS] for recipe in RECIPES}
for recipe, values in counted.items():
    print(f"{recipe:20} {' '.join(f'{value:4}' for value in values)}")
if len(sys.argv) > 1:
    Path(sys.argv[1]).write_text(svg(counted))
