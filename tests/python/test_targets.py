# SPDX-License-Identifier: Apache-2.0
"""check, compile and run: every sort of target, what is told, and what is refused."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import peal

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
MESH = peal.parse_file(EXAMPLES / "mesh_allreduce.peal")
HASTY = EXAMPLES / "broken" / "hasty_allreduce.peal"
RING = EXAMPLES / "pto" / "allreduce_ring.cpp"


# ---- check


@pytest.mark.parametrize("recipe", ["auto", "mesh", "ring", "all"])
def test_collectives_are_proved(recipe):
    report = peal.check("allreduce", ranks=range(2, 6), recipe=recipe)
    assert report and report.verdict == "proved" and report.violations == []
    assert report.svg() == "" and report.raise_if_violated() is report
    assert all(result["ranks"] == "2..5" for result in report.results)


def test_programs_files_and_plans_are_the_same_target():
    path = EXAMPLES / "mesh_allreduce.peal"
    plans = peal.compile(MESH, 3, sizes={"n": 7})
    for target in [MESH, path, str(path), f"{path}:mesh_allreduce"]:
        report = peal.check(target, ranks=[2, 3], expect="allreduce")
        assert report and report.results[0]["calls"] == "any"
        assert report.results[0]["result"] == "allreduce"
    assert peal.check(plans, expect="allreduce")
    assert peal.check(MESH, ranks=3, sizes={"n": 7}, expect="allreduce", kernel="mesh_allreduce")


def test_files_of_plans(tmp_path):
    file = tmp_path / "mesh.json"
    file.write_text(peal.plans_to_json(peal.compile(MESH, 2, sizes={"n": 5})))
    assert peal.check(file, expect="allreduce")
    assert peal.check(file, ranks=range(2, 5), expect="allreduce").results[0]["ranks"] == "2"
    with pytest.raises(peal.Error, match="^`ranks` 3: the plans are for 2 ranks$"):
        peal.check(file, ranks=3)
    run = peal.run(file, expect="allreduce")
    assert run.ok and len(run.outputs["out"]) == 2
    assert peal.compile(str(file)) == peal.plans_from_json(file.read_text())


def test_pto_kernels():
    options = {"as": "allreduce"}
    assert peal.check(RING, ranks=2, **options)
    assert peal.check(peal.PtoKernel(str(RING)), ranks=2, **options)
    run = peal.run(RING, ranks=2, **options)
    assert run.ok and run.collective == "allreduce" and run.proof == "proved"


def test_plans_of_other_projects(tmp_path):
    file = tmp_path / "pair.xml"
    file.write_text(
        '<algo name="pair" proto="Simple" nchannels="1" nchunksperloop="2" ngpus="2" coll="allgather"'
        ' inplace="0">\n'
        + "".join(
            f'<gpu id="{g}" i_chunks="1" o_chunks="2" s_chunks="0">\n'
            f'<tb id="0" send="{1 - g}" recv="{1 - g}" chan="0">\n'
            f'<step s="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="{g}" cnt="1" depid="-1" deps="-1" hasdep="0"/>\n'
            f'<step s="1" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="{g}" cnt="1" depid="-1" deps="-1" hasdep="0"/>\n'
            f'<step s="2" type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="{1 - g}" cnt="1" depid="-1" deps="-1" hasdep="0"/>\n'
            "</tb>\n</gpu>\n"
            for g in range(2)
        )
        + "</algo>\n"
    )
    report = peal.check(file)
    assert report, report.text
    assert peal.run(file).ok


def test_a_violation_is_told_like_the_command_tells_it():
    report = peal.check(HASTY, ranks=range(2, 5), expect="allreduce")
    assert not report and report.verdict == "violated"
    first = report.violations[0]
    assert first.kind == "data race" and first.memory == "data@1[0;3]"
    assert first.lines == [9, 5] and first.steps[0].file.endswith("hasty_allreduce.peal")
    assert [step.rank for step in first.steps] == [0, 1]
    assert first.schedule[0].line == 0 and first.schedule[0].text == "rank 0, call 0: the caller stages its input"
    assert report.svg().startswith("<svg") and report.svg() in report.html()
    assert "data race" in report._repr_html_() and "&lt;" in report._repr_html_()
    with pytest.raises(peal.Error, match="data race: data@1") as caught:
        report.raise_if_violated()
    assert caught.value.fault == "wrong" and str(caught.value) == report.text == str(report)
    told = subprocess.run(
        [os.environ["PEAL_COMMAND"], "check", str(HASTY), "-n", "2..4", "--expect", "allreduce"],
        capture_output=True, text=True)
    assert told.returncode == 1
    # but for the time that it took
    assert told.stdout.splitlines()[2:] == report.text.splitlines()[2:]


def test_what_a_report_says_of_options_is_in_words_of_python():
    assert "no result was asked for; `expect` NAME names the collective" in peal.check(MESH, ranks=2).text
    text = peal.check(HASTY, ranks=4, expect="allreduce").text
    assert "shown on 2 ranks, the fewest that have it; `full` shows it on 4" in text


def test_a_bound_is_neither(tmp_path):
    report = peal.check("allreduce", ranks=8, recipe="ring", max_seconds=1e-9)
    assert report.verdict == "bound reached" and not report
    with pytest.raises(peal.Error, match="bound reached") as caught:
        report.raise_if_violated()
    assert caught.value.fault == "bound"


def test_options_of_a_check():
    assert peal.check("allreduce", ranks="2", after=["broadcast:tree"], calls=2)
    assert peal.check("allreduce", ranks=2, expect="allreduce") and peal.run("allreduce", 2, expect="allreduce").ok
    assert peal.check(MESH, ranks=2, dtype="f32", count=100, explain=True).results[0]["counts"] == "100"
    assert not peal.check(HASTY, ranks=2, calls=2)
    assert peal.check(HASTY, ranks=2, calls=1, order="drained")  # one call is right
    for call, message in [
        (lambda: peal.check(MESH, rank=2), "^there is no option 'rank'; options are .*ranks, "),
        (lambda: peal.check("allreduc"), "'allreduc' is neither a collective nor"),
        (lambda: peal.check(MESH, expect="reduce_all"), "reduce_all"),
        (lambda: peal.check(MESH, calls="often"), "^calls: expected any, or a number from 1 on, found often$"),
        (lambda: peal.check(MESH, ranks=0), r"^`ranks` '0': expected numbers of ranks"),
        (lambda: peal.check(MESH, ranks=range(2, 2)), r"^ranks: expected at least one number, found range\(2, 2\)$"),
        (lambda: peal.check(MESH, expect="allredce"), "^expect: there is no collective 'allredce'; "),
        (lambda: peal.check(MESH, **{"in-place": True}), "^there is no option 'in-place'; options are .*, in_place, "),
        (lambda: peal.check(MESH, full="no"), "^full: expected true or false, found 'no'$"),
        (lambda: peal.check(MESH, sizes={"n": "many"}), "^`sizes` n: 'many' is not an integer$"),
        (lambda: peal.check("allreduce", ranks=3, hosts="2+2"), r"^`ranks` 3 and `hosts` 2\+2 \(4 ranks\) disagree$"),
        (lambda: peal.check(RING, sizes={"n": 4}), "^`sizes` is for .peal kernels; a PTO kernel takes scalars as `arg` scalar:7$"),
        (lambda: peal.check(RING, outstanding_loads=True, strict_loads=True), "^`outstanding_loads` and `strict_loads` disagree$"),
        (lambda: peal.check(peal.compile(MESH, 2, sizes={"n": 4}), ranks=range(3, 5)), "^`ranks` 3,4: the plans are for 2 ranks$"),
        (lambda: peal.check([1, 2]), "^target: expected a name or path, .* found list$"),
        (lambda: peal.run(None), "^target: expected a name or path, .* found NoneType$"),
        (lambda: peal.check(MESH, kernel="k"), "mesh_allreduce.peal has no kernel 'k'; it has mesh_allreduce$"),
        (lambda: peal.check([]), "^plans has no plans$"),
        (lambda: peal.check("allreduce", expect="broadcast"),
         "^expect: the target 'allreduce' must compute itself, which is not 'broadcast'$"),
    ]:
        with pytest.raises(peal.Error, match=message) as caught:
            call()
        assert caught.value.fault == "usage"


# ---- run


@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
def test_runs_are_compared_with_golden(ranks):
    run = peal.run(MESH, ranks, expect="allreduce", calls=3, sizes={"n": 10})
    assert run and run.ok and run.proof == "proved" and run.collective == "allreduce"
    assert run.seconds > 0 and run.wrong is None
    for output, golden in zip(run.outputs["out"], run.golden["out"], strict=True):
        np.testing.assert_array_equal(output, golden)
    assert repr(run).startswith("<peal.Run golden: ok, proof: proved, ")


@pytest.mark.parametrize("dtype", ["f16", "f32", "f64", "i8", "i32", "u64"])
@pytest.mark.parametrize("op", ["sum", "max", "prod"])
def test_inputs_that_are_given(dtype, op):
    rng = np.random.default_rng(1)
    word = {"f": "float", "i": "int", "u": "uint"}[dtype[0]] + dtype[1:]
    inputs = [(rng.random(33) * 7).astype(word) for _ in range(4)]
    run = peal.run("allreduce", 4, inputs={"input": inputs}, count=33, dtype=dtype, op=op, recipe="ring")
    assert run.ok, run.wrong
    combined = {"sum": np.add, "max": np.maximum, "prod": np.multiply}[op].reduce(
        [each.astype("f8") if dtype[0] == "f" else each for each in inputs],
        dtype="f8" if dtype[0] == "f" else word)
    for output in run.outputs["output"]:
        np.testing.assert_allclose(output.astype("f8"), combined.astype("f8"), rtol=1e-2)


def test_bf16_inputs():
    ones = np.full(8, 0x3F80, "u2")
    run = peal.run("allreduce", 2, inputs={"input": [peal.bits(ones, "bf16")] * 2}, count=8, dtype="bf16")
    assert run.ok
    np.testing.assert_array_equal(run.outputs["output"][0], np.full(8, 0x4000, "u2"))


def test_every_collective_runs():
    for name in ["allreduce", "reduce_scatter", "allgather", "all_to_all", "broadcast", "reduce",
                 "gather", "scatter", "scan", "exscan", "barrier", "all_to_all_v", "allgather_v", "reduce_scatter_v"]:
        run = peal.run(name, 3, count=4, calls=2)
        assert run.ok and run.proof == "proved", name


def test_kernels_without_a_meaning():
    scale = peal.parse("kernel scale(inp: in f32[n], out: out f32[n], by: f32) {\n    out = inp * by\n}\n")
    run = peal.run(scale, 2, inputs={"inp": np.ones((2, 3), "f4")}, sizes={"n": 3, "by": 2.5})
    assert run.ok is None and run and run.golden == {}
    np.testing.assert_array_equal(run.outputs["out"], [[2.5] * 3] * 2)
    assert "not compared" in repr(run)


def test_a_wrong_result_is_told():
    wrong = peal.parse(
        "kernel k(inp: in f32[n], out: out f32[n]) {\n    out = inp * 2.0\n}\n")
    run = peal.run(wrong, 2, expect="allreduce", sizes={"n": 4})
    assert run.ok is False and not run
    assert run.wrong == "call 0: rank 0: element 0 is 0, expected 100 (4 of 4 differ)"
    inputs = {"inp": [np.full(4, 1, "f4"), np.full(4, 3, "f4")]}
    given = peal.run(wrong, 2, expect="allreduce", inputs=inputs, sizes={"n": 4})
    assert given.wrong == "rank 0: element 0 of out is 2.0, expected 4.0 (4 of 4 differ)"


def test_ways_to_run():
    for options in [dict(seed=7), dict(processes=True), dict(platform="a2a3sim", devices="0-1")]:
        assert peal.run("allreduce", 2, count=64, **options).ok
    with pytest.raises(peal.Error, match="^not run: ") as caught:
        peal.run(HASTY, 2, check=True, expect="allreduce")
    assert caught.value.fault == "wrong"


def test_inputs_that_do_not_fit():
    for inputs, message in [
        ({"x": [np.ones(4, "f4")]}, "^input 'x' of rank 0: the kernel reads no such buffer; it reads inp, data$"),
        ({"inp": [np.ones(3, "f4")]}, "^input 'inp' of rank 0: expected 4 f32, found 3 f32$"),
        ({"inp": [np.ones(4, "f8")]}, "^input 'inp' of rank 0: expected 4 f32, found 4 f64$"),
        ({"inp": [np.ones(4, "f4")] * 3}, "^input 'inp' of rank 2: there are 2 ranks$"),
        ({"inp": ["abc"]}, "^run: inp: expected a contiguous array of .*, found str$"),
    ]:
        with pytest.raises(peal.Error, match=message):
            peal.run(MESH, 2, inputs=inputs, sizes={"n": 4})
