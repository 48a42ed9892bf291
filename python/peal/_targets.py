# SPDX-License-Identifier: Apache-2.0
"""Checking, compiling and running: collectives by name, programs, files, plans."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, SupportsIndex, TypeVar, Union

from . import _peal
from ._errors import Error

Target = Union[str, "os.PathLike[str]", _peal.Program, _peal.PtoKernel, Sequence[_peal.Plan]]
Ranks = Union[int, str, Iterable[int]]
Setting = Union[SupportsIndex, float, Sequence[SupportsIndex]]
_Answer = TypeVar("_Answer")


class Step:
    """What one rank does on the way to a violation."""

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self.rank: int = facts["rank"]
        self.call: int = facts["call"]
        self.instruction: int = facts["instruction"]
        self.text: str = facts["text"]
        self.source: str = facts["source"]
        self.file, self.line = _place_in(self.source)

    def __repr__(self) -> str:
        return f"<{self.text}>"


def _place_in(source: str) -> tuple[str, int]:
    """Of "file.peal:12: text": the file and the line."""
    import re

    found = re.match(r"(.*?):(\d+): ", source)
    return (found.group(1), int(found.group(2))) if found else ("", 0)


class Violation:
    """One way in which a target is wrong."""

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self.kind: str = facts["kind"]
        self.message: str = facts["message"]
        self.memory: str = facts["memory"]
        self.found: str = facts["found"]
        self.expected: str = facts["expected"]
        self.steps: list[Step] = [Step(each) for each in facts["steps"]]
        self.schedule: list[Step] = [Step(each) for each in facts["schedule"]]

    @property
    def lines(self) -> list[int]:
        """The source lines of the steps involved."""
        return [step.line for step in self.steps if step.line]

    def __repr__(self) -> str:
        return f"<{self.kind}: {self.message}>"


class Report:
    """What a check found. True when everything that was asked is proved.

    `verdict` is "proved", "violated" or "bound reached"; `text` is what `peal check` prints, with the names
    that options have here. In a notebook a report shows its counterexample.
    """

    def __init__(self, verdict: str, text: str, as_json: str, svg: str) -> None:
        self.verdict = verdict
        self.text = text
        self._json = as_json
        self._svg = svg

    def __bool__(self) -> bool:
        return self.verdict == "proved"

    @property
    def results(self) -> list[dict[str, Any]]:
        """What `peal check --json` prints, as Python has it."""
        import json

        results: list[dict[str, Any]] = json.loads(self._json)
        return results

    @property
    def violations(self) -> list[Violation]:
        """All violations that were found, the clearest first."""
        return [Violation(v) for result in self.results for v in result.get("violations", [])]

    def svg(self) -> str:
        """The counterexample as a picture; empty if there is none."""
        return self._svg

    def html(self) -> str:
        """The report as a page of its own."""
        from html import escape

        title = escape(self.text.split("\n", 1)[0] if self._svg == "" else self.verdict)
        return (
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
            f"<title>{title}</title></head>\n<body>{self._repr_html_()}</body></html>\n"
        )

    def raise_if_violated(self) -> Report:
        """Raises Error with the counterexample, or with the bound that was reached, unless
        everything is proved; else returns the report."""
        if not self:
            raise Error(self.text, "wrong" if self.verdict == "violated" else "bound")
        return self

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(self.text)}</pre>{self._svg}"

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<peal.Report {self.verdict}>"


class Run:
    """What came out of a run. True when the results are what the collective means.

    `outputs[name][rank]` is an array of numpy. `golden`, of the same form, is what the collective
    means for the inputs of the last call; it is empty if no collective is known. `proof` is
    "proved", the kind of a violation, "bound", or "-" if it would have taken long; `seconds` is the
    time of the fastest call. The bits of bf16 are uint16.
    """

    def __init__(self, facts: tuple[Any, ...], is_given: bool) -> None:
        self.collective: str
        self.proof: str
        self.reason: str
        self.seconds: float
        self.collective, self.proof, self.reason, self.wrong, self.seconds, outputs, golden = facts
        self.outputs = _by_name(outputs)
        self.golden = _by_name(golden)
        if is_given and not self.wrong:
            self.wrong = _difference(outputs, golden)

    @property
    def ok(self) -> bool | None:
        """Whether the results are right; None if nothing is known to compare them with."""
        return None if not self.collective else self.wrong is None

    def __bool__(self) -> bool:
        return self.wrong is None

    def __repr__(self) -> str:
        golden = {True: "ok", False: "WRONG", None: "not compared"}[self.ok]
        return f"<peal.Run golden: {golden}, proof: {self.proof}, {self.seconds * 1e6:.1f} us>"


listeners: list[Callable[[Report], None]] = []  # are told of every report


def check(
    target: Target,
    ranks: Ranks | None = None,
    expect: str = "",
    calls: int | str = "any",
    order: str = "both",
    after: Iterable[str] = (),
    sizes: Mapping[str, Setting] | None = None,
    **options: object,
) -> Report:
    """Proves a target over every interleaving, or finds the shortest way it breaks.

    The target is a collective by name, a program, a path of a .peal file (file.peal:kernel), a PTO
    kernel, plans or a file of plans, also of MSCCL and MSCCL++. `ranks` is a number, a range or
    list (range(2, 17)), or text ("2..16"). `expect` names the collective that it must compute
    (a collective by name must compute itself), `calls` how many in a row, `after` collectives that run before it on the same windows, and
    `sizes` gives symbols, scalars and tables of the kernel.

    Further options are those of `peal check --help`: recipe="ring", count=1000, dtype="f16",
    device="a5", lanes=2, arg=[...], max_seconds=10, full=True.
    """
    options.update(expect=expect, calls=calls, order=order, after=list(after))
    report = Report(*_said(_peal.check_target, *_request(target, ranks, sizes, options)))
    for listener in listeners:
        listener(report)
    return report


def compile(
    target: Target,
    ranks: int | None = None,
    sizes: Mapping[str, Setting] | None = None,
    **options: object,
) -> list[_peal.Plan]:
    """The plans of all ranks: what is checked, run and sent to devices. Takes what run() takes."""
    return _said(_peal.plans_of_target, *_request(target, ranks, sizes, options))


def run(
    target: Target,
    ranks: int | None = None,
    inputs: Mapping[str, Iterable[Any]] | None = None,
    expect: str = "",
    calls: int = 1,
    sizes: Mapping[str, Setting] | None = None,
    **options: object,
) -> Run:
    """Carries a target out on all ranks of this process, and compares the results.

    `inputs[name]` has an array for each rank; what is not given are numbers that tell elements and
    ranks apart. Further options are those of `peal run --help`: seed=7, processes=True, check=True
    (run only what is proved), platform="a2a3sim".
    """
    options.update(expect=expect, calls=calls)
    given = [
        (name, rank, array)
        for name, arrays in (inputs or {}).items()
        for rank, array in enumerate(arrays)
    ]
    request = _request(target, ranks, sizes, options)
    return Run(_said(_peal.run_target, *request, given), bool(given))


# ---- from Python to options


def _said(ask: Callable[..., _Answer], *request: Any) -> _Answer:
    """The answer; `sizes`, which is the option `set`, is called what it is called here."""
    try:
        return ask(*request)
    except Error as error:
        if type(error) is not Error or "`set`" not in str(error):
            raise
        raise Error(str(error).replace("`set`", "`sizes`"), error.fault) from None


def _request(
    target: Target,
    ranks: Ranks | None,
    sizes: Mapping[str, Setting] | None,
    options: dict[str, object],
) -> tuple[str, list[tuple[str, str]], _peal.Program | None, list[_peal.Plan] | None]:
    if ranks is not None:
        options["ranks"] = _numbers(ranks)
    if sizes:
        options["set"] = [f"{name}={_setting(value)}" for name, value in sizes.items()]
    kernel = str(options.pop("kernel", ""))
    if isinstance(target, str) and target.isidentifier():
        _expect_itself(target, options.pop("expect", ""))
    words = [
        (key, word) for key, value in options.items() for word in _words(value)
    ]
    if isinstance(target, _peal.Program):
        return kernel, words, target, None
    if isinstance(target, _peal.PtoKernel):
        return target.path, words, None, None
    if isinstance(target, (str, os.PathLike)):
        name = os.fspath(target)
        return (f"{name}:{kernel}" if kernel else name), words, None, None
    plans = list(target) if isinstance(target, Iterable) else []
    if not isinstance(target, Iterable) or not all(isinstance(plan, _peal.Plan) for plan in plans):
        raise Error(
            "target: expected a name or path, a peal.Program, a peal.PtoKernel or a list of "
            f"peal.Plan, found {type(target).__name__}"
        )
    return "", words, None, plans


def _numbers(ranks: Ranks) -> str:
    if isinstance(ranks, str) or not isinstance(ranks, Iterable):
        return str(ranks)
    listed = ",".join(map(str, ranks))
    if not listed:
        raise Error(f"ranks: expected at least one number, found {ranks!r}")
    return listed


def _expect_itself(collective: str, expect: object) -> None:
    """A target that is a name is a collective, and is compared with what it means."""
    if expect not in ("", None, collective):
        raise Error(f"expect: the target {collective!r} must compute itself, which is not {expect!r}")


def _words(value: object) -> list[str]:
    if isinstance(value, bool):
        return ["true" if value else "false"]
    if value is None or value == "":
        return []
    if isinstance(value, (list, tuple)):
        return [str(each) for each in value]
    return [str(value)]


def _setting(value: Setting) -> str:
    if isinstance(value, Iterable) and not isinstance(value, str):
        return ",".join(_setting(each) for each in value)
    return str(value)


# ---- from bytes to arrays


def _by_name(arrays: list[tuple[str, int, str, bytearray]]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    ranks = max((rank for _, rank, _, _ in arrays), default=-1) + 1
    for name, rank, dtype, data in arrays:
        found.setdefault(name, [None] * ranks)[rank] = _array(dtype, data)
    return found


_NUMPY = {"f": "float", "i": "int", "u": "uint"}


def _array(dtype: str, data: bytearray) -> Any:
    import numpy

    word = "uint16" if dtype == "bf16" else _NUMPY[dtype[0]] + dtype[1:]
    return numpy.frombuffer(data, dtype=word)


# How far sums of given numbers may be apart when they are added in another order.
_TOLERANCE = {"f16": 1e-2, "bf16": 5e-2, "f32": 1e-5, "f64": 1e-12}


def _difference(
    outputs: list[tuple[str, int, str, bytearray]], golden: list[tuple[str, int, str, bytearray]]
) -> str | None:
    import numpy

    found = {(name, rank): data for name, rank, _, data in outputs}
    for name, rank, dtype, data in golden:
        if (name, rank) not in found:
            continue  # the result is in a window
        is_array, must_be = _array(dtype, found[name, rank]), _array(dtype, data)
        is_array = is_array[: len(must_be)]
        if dtype == "bf16":
            is_array, must_be = (
                (bits.astype("uint32") << 16).view("float32") for bits in (is_array, must_be)
            )
        if dtype in _TOLERANCE:
            scale = float(numpy.abs(must_be.astype("f8")).max(initial=0))
            same = numpy.isclose(
                is_array.astype("f8"),
                must_be.astype("f8"),
                rtol=_TOLERANCE[dtype],
                atol=_TOLERANCE[dtype] * scale,
                equal_nan=True,
            )
        else:
            same = is_array == must_be
        if not same.all():
            at = int(numpy.argmin(same))
            return (
                f"rank {rank}: element {at} of {name} is {is_array[at]}, expected {must_be[at]} "
                f"({int((~same).sum())} of {len(same)} differ)"
            )
    return None
