# SPDX-License-Identifier: Apache-2.0
"""Programs: text in, every form on the road to plans out, and errors with their lines."""

import pickle
from pathlib import Path

import pytest

import peal

MUST_FAIL = Path(__file__).parents[1] / "must_fail"
EXAMPLES = Path(__file__).parents[2] / "examples"

SHIFT = """kernel shift(inp: in f32[n], out: out f32[n], data: window f32[n], sig: window i32[1],
             scale: f32, turns: index[2]) {
    data = inp
    notify sig[0]@((rank + 1) % nranks) = generation(sig) + 1
    wait sig[0] >= generation(sig) + 1
    out = data
    advance sig by 1
}
"""


def test_what_is_printed_parses_to_an_equal_program():
    program = peal.parse_file(EXAMPLES / "mesh_allreduce.peal")
    assert program.kernels == ["mesh_allreduce"]
    assert program.name.endswith("examples/mesh_allreduce.peal")
    assert program.source == (EXAMPLES / "mesh_allreduce.peal").read_text()
    again = peal.parse(str(program))
    assert again == program and hash(again) == hash(program)
    assert program != peal.parse_file(EXAMPLES / "ring_allreduce.peal")
    assert program != "mesh_allreduce"


def test_forms():
    program = peal.parse_file(EXAMPLES / "composite.peal")
    kernel = program.kernels[0]
    assert "allreduce(" in program.show("ir", kernel=kernel)
    lowered = program.show("lowered", kernel=kernel)
    assert "allreduce(" not in lowered and "notify" in lowered
    assert program.lower().show(kernel=kernel) == lowered
    assert program.lower().lower() == program.lower()


def test_plan_of_a_rank():
    mesh = peal.parse_file(EXAMPLES / "mesh_allreduce.peal")
    plan = mesh.show("plan", rank=1, ranks=2, n=8)
    assert "rank 1 of 2" in plan
    assert "notify sig[1]@0" in plan
    with pytest.raises(peal.Error, match=r"^rank: expected 0\.\.1, found 2$"):
        mesh.show("plan", rank=2, ranks=2, n=8)
    with pytest.raises(peal.Error, match=r"^ranks: expected 1\.\.1024, found 0$"):
        mesh.show("plan", rank=0, ranks=0, n=8)


def test_values_for_symbols_scalars_and_tables():
    program = peal.parse(SHIFT)
    assert "rank 0 of 2" in program.show("plan", ranks=2, n=4, scale=2, turns=[1, 2])
    assert "rank 0 of 2" in program.show("plan", ranks=2, n=4, scale=0.5, turns=[[1], [2]])
    for sizes, message in [
        (dict(scale=1.0, turns=[1, 2]), "n"),
        (dict(n="8", scale=1.0, turns=[1, 2]), "^n: expected an integer, or a table of integers, found str$"),
        (dict(n=2**64, scale=1.0, turns=[1, 2]), "^n: 18446744073709551616 does not fit 64 bits$"),
        (dict(n=8, scale="x", turns=[1, 2]), "^scale: expected a number, found str$"),
        (dict(n=8, scale=1.0, turns=[1, 0.5]), "^turns: expected integers in the table, found float$"),
    ]:
        with pytest.raises(peal.Error, match=message) as caught:
            program.show("plan", ranks=2, **sizes)
        assert caught.value.fault == "usage"


def test_wrong_words():
    program = peal.parse_file(EXAMPLES / "mesh_allreduce.peal")
    with pytest.raises(peal.Error, match="^form: expected 'ir', 'lowered' or 'plan', found 'c'$"):
        program.show("c")
    with pytest.raises(peal.Error, match="^the program has no kernel 'x'; it has mesh_allreduce$"):
        program.show(kernel="x")
    with pytest.raises(peal.Error, match="^the program has no kernel$"):
        peal.parse("").show("plan")


def test_errors_have_all_diagnostics_with_their_places():
    path = MUST_FAIL / "several_errors.peal"
    with pytest.raises(peal.ProgramError) as caught:
        peal.parse(path.read_text(), name=path.name)
    error = caught.value
    assert isinstance(error, peal.Error) and error.fault == "program"
    assert str(error).rstrip() == path.with_suffix(".expected").read_text().rstrip()
    places = [f"{path.name}:{each.line}:{each.column}: error: {each.message}" for each in error.diagnostics]
    assert len(places) > 1
    assert places == [line for line in str(error).splitlines() if line.startswith(path.name)]
    assert repr(error.diagnostics[0]).startswith(f"<error at {error.diagnostics[0].line}:")


def test_a_file_that_is_not_there():
    with pytest.raises(peal.Error, match="no_such.peal") as caught:
        peal.parse_file("no_such.peal")
    assert caught.value.fault == "usage"


def test_requirements():
    program = peal.parse(
        "kernel k(inp: in f32[n], out: out f32[n]) {\n    require n % 2 == 0\n    out = inp\n}\n"
    )
    with pytest.raises(peal.RequirementError, match="required: n % 2 == 0, found 1"):
        program.show("plan", ranks=1, n=3)


def test_exceptions_can_be_sent_elsewhere():
    error = pickle.loads(pickle.dumps(peal.Error("it is wrong", "wrong")))
    assert (str(error), error.fault) == ("it is wrong", "wrong")
    with pytest.raises(peal.ProgramError) as caught:
        peal.parse("kernel")
    error = pickle.loads(pickle.dumps(caught.value))
    assert type(error) is peal.ProgramError and str(error) == str(caught.value)
    assert repr(error.diagnostics) == repr(caught.value.diagnostics)
