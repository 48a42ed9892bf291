# SPDX-License-Identifier: Apache-2.0
"""Whole programs: how they are compiled, called, prepared and called again."""

import importlib.util
import os
import subprocess
import sys
import textwrap
from functools import partial
from pathlib import Path

import numpy as np
import peal
import programs
import pypto.language as pl
import pypto.language.distributed as pld
import pytest
from frame import Source, compiled, numbers
from pypto import ir
from pypto._peal import verdicts
from pypto.ir.distributed_compiled_program import DistributedCompiledProgram, DistributedConfig
from pypto.runtime import DistributedWorker, RunConfig

RANKS = [1, 2, 3, 4]


def total(xs):
    return np.broadcast_to(xs.sum(0), xs.shape)


@pytest.mark.parametrize("nr", RANKS)
def test_in_place_and_returned(nr):
    made = compiled(programs.mesh_allreduce(nr), nr)
    assert [v.verdict for v in made.verdicts] == ["proved"]
    xs = numbers((nr, 1, programs.SIZE))
    ys = np.full_like(xs, 5)
    assert made(xs, ys) is None
    np.testing.assert_array_equal(ys, total(xs))
    np.testing.assert_array_equal(made(xs), total(xs))


@pytest.mark.parametrize("nr", RANKS)
def test_one_program_with_symbols_for_every_number_of_ranks(nr):
    made = compiled(programs.DynamicAllgather, nr)
    assert made.verdicts == []  # nothing is known before the arguments are
    for seed in range(2):
        xs = numbers((nr, 1, programs.SIZE), seed=seed)
        ys = np.full((nr, 1, nr * programs.SIZE), 77, np.float32)
        made(xs, ys)
        np.testing.assert_array_equal(ys, np.broadcast_to(xs.reshape(1, 1, -1), ys.shape))
    assert [v.verdict for v in made.verdicts] == ["proved"]


def test_annotations_may_be_strings(tmp_path):
    """All of a file's, which Python then does not carry out."""
    source = Source(tmp_path, "return pl.store(pl.load(x, [0, 0], [1, n]), [0, 0], y)")
    source.path.write_text("from __future__ import annotations\n\n" + source.text)
    made = source.compile(2, 4)
    assert [v.verdict for v in made.verdicts] == ["proved"]
    xs, ys = numbers((2, 1, 4)), np.zeros((2, 1, 4), np.float32)
    made(xs, ys)
    np.testing.assert_array_equal(ys, xs)


def test_proofs_are_taken_from_the_store(tmp_path, monkeypatch):
    """What was proved before is not proved again."""
    monkeypatch.setenv("PEAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PEAL_PROOFS", "on")
    found = []
    for _ in range(2):
        [verdict] = compiled(programs.mesh_allreduce(2), 2).verdicts
        found.append((verdict.verdict, verdict.meaning, verdict.from_store))
    assert found == [("proved", "ys is the allreduce (sum) of xs", is_second) for is_second in (False, True)]
    assert list((tmp_path / "cache" / "proofs").glob("*.json"))


def test_device_numbers_are_names_and_ranks_are_places():
    config = DistributedConfig(device_ids=[7, 3])
    made = ir.compile(programs.mesh_allreduce(2), platform="a2a3sim", distributed_config=config)
    xs = numbers((2, 1, programs.SIZE))
    np.testing.assert_array_equal(made(xs), total(xs))


@pytest.mark.parametrize("nr", RANKS)
def test_two_kernels_under_one_orchestration_run_in_order(nr):
    made = compiled(programs.two_kernels(nr), nr)
    for seed in range(2):
        xs, ys = numbers((nr, 1, programs.SIZE), seed=seed), np.full((nr, 1, programs.SIZE), 77, np.float32)
        made(xs, ys)
        np.testing.assert_array_equal(ys, np.roll(xs, 1, axis=0))
    assert [v.verdict for v in made.verdicts] == ["proved"]


@pytest.mark.parametrize("op, golden", [(pld.ReduceOp.Max, np.max), (pld.ReduceOp.Sum, np.sum)])
@pytest.mark.parametrize("nr", RANKS)
def test_tuples_and_captured_words(nr, op, golden):
    made = compiled(programs.total_and_own(nr, op, pl.FP32), nr)
    assert [v.verdict for v in made.verdicts] == ["proved"]
    for seed in range(2):
        xs = numbers((nr, 1, programs.SIZE), seed=seed)
        total_of, own = made(xs)
        np.testing.assert_array_equal(total_of, np.broadcast_to(golden(xs, axis=0), xs.shape))
        np.testing.assert_array_equal(own, 2 * xs)


@pytest.mark.parametrize("nr", RANKS)
def test_scalars_that_the_host_gives(nr):
    made = compiled(programs.scalars_given(nr), nr)
    assert [v.verdict for v in made.verdicts] == ["proved"]
    xs, ys = numbers((nr, 1, programs.SIZE), np.int32), np.full((nr, 1, programs.SIZE + 1), 77, np.int32)
    for _ in range(2):
        made(xs, ys)
        np.testing.assert_array_equal(ys[:, :, :-1], np.broadcast_to(xs[-1], xs.shape))
        assert (ys[:, :, -1] == 7).all()


def test_what_no_kernel_writes_stays_as_it_was(tmp_path):
    source = Source(tmp_path, "pl.store(pl.load(x, [0, 0], [1, 4]), [0, 2], y)\nreturn y")
    xs, ys = numbers((2, 1, 12)), np.full((2, 1, 12), 9, np.float32)
    source.compile(2, 12)(xs, ys)
    expected = np.full_like(ys, 9)
    expected[:, :, 2:6] = xs[:, :, :4]
    np.testing.assert_array_equal(ys, expected)


def test_windows_hold_zeros_where_nobody_wrote(tmp_path):
    body = """
    y = pl.store(pl.load(data, [0, 0], [1, n]), [0, 0], y)
    pl.store(pl.load(x, [0, 0], [1, n]), [0, 0], data)
    return y
    """
    made = Source(tmp_path, body).compile(2, 12)
    for _ in range(2):
        ys = np.full((2, 1, 12), 9, np.float32)
        made(numbers((2, 1, 12)), ys)
        assert not ys.any()


def test_bf16_is_copied_as_bits(tmp_path):
    body = """
    pl.store(pl.load(x, [0, 0], [1, n]), [0, 0], data)
    pld.tensor.barrier(sig)
    return pl.store(pld.tile.remote_load(data, (me + 1) % nr, [0, 0], [1, n]), [0, 0], y)
    """
    made = Source(tmp_path, body, dtype="BF16").compile(2, 12)
    xs = np.arange(24, dtype=np.uint16).reshape(2, 1, 12) + 0x3F80
    ys = np.zeros_like(xs)
    made(xs, ys)
    np.testing.assert_array_equal(ys, xs[::-1])


def test_a_physical_tile_may_be_larger_than_the_tensor(tmp_path):
    body = """
    t = pl.load(x, [0, 0], [8, 1], valid_shape=[1, 1])
    return pl.store(t, [0, 0], y)
    """
    made = Source(tmp_path, body, x="1, 1", y="1, 1").compile(2, 12)
    xs, ys = numbers((2, 1, 1)) + 1, np.zeros((2, 1, 1), np.float32)
    made(xs, ys)
    np.testing.assert_array_equal(ys, xs)


# ---------------------------------------------------------------------------- workers that stay

COUNTING = """
pld.system.notify(sig, (me + 1) % nr, [0, 0], 1, op=pld.NotifyOp.AtomicAdd)
pld.system.wait(sig, [0, 0], 1, cmp=pld.WaitCmp.Ge)
data = pl.store(pl.add(pl.load(data, [0, 0], [1, n]), pl.load(x, [0, 0], [1, n])), [0, 0], data)
return pl.store(pl.load(data, [0, 0], [1, n]), [0, 0], y)
"""


def three_calls(made, **options):
    xs, seen = numbers((2, 1, 12)), []
    with made.prepare(persistent=True, **options) as worker:
        for _ in range(3):
            ys = np.zeros_like(xs)
            worker(xs, ys)
            seen.append(ys)
        assert worker._w._next_alloc_id == 1
    with pytest.raises(RuntimeError, match=r"called after close\(\)"):
        worker(xs, ys)
    return xs, seen


def test_windows_that_stay_are_zeroed_before_each_call(tmp_path):
    made = Source(tmp_path, COUNTING).compile(2, 12)
    xs, seen = three_calls(made)
    for ys in seen:
        np.testing.assert_array_equal(ys, xs)


def test_windows_that_keep_their_contents_and_a_signal_that_is_left_over(tmp_path):
    """Without a reset the second call finds the cell at 1: its wait passes at once."""
    source = Source(tmp_path, COUNTING)
    made = source.compile(2, 12)
    xs, seen = three_calls(made, reset_persistent_windows=False)
    for i, ys in enumerate(seen, 1):
        np.testing.assert_array_equal(ys, i * xs)
    fresh, kept = made.verdicts
    assert fresh.verdict == "proved"
    assert kept.verdict == "violated"
    assert source.line("system.wait") in kept.lines


def test_credits_that_are_taken_back_serve_any_number_of_calls(tmp_path):
    body = COUNTING.replace("data = pl", "pld.system.notify(sig, me, [0, 0], -1, op=pld.NotifyOp.AtomicAdd)\ndata = pl", 1)
    made = Source(tmp_path, body).compile(2, 12)
    xs, seen = three_calls(made, reset_persistent_windows=False)
    np.testing.assert_array_equal(seen[2], 3 * xs)
    assert [v.verdict for v in made.verdicts] == ["proved", "proved"]


def test_several_programs_on_one_worker():
    one, two = (compiled(programs.mesh_allreduce(2), 2) for _ in range(2))
    xs, ys = numbers((2, 1, programs.SIZE)), np.zeros((2, 1, programs.SIZE), np.float32)
    with DistributedWorker([one, two]) as worker:
        with pytest.raises(TypeError, match="ambiguous"):
            worker(xs, ys)
        worker.run(two, xs, ys)
        np.testing.assert_array_equal(ys, total(xs))
        handle = worker.register(compiled(programs.two_kernels(2), 2))
        handle(xs, ys)
        np.testing.assert_array_equal(ys, xs[::-1])
        assert not handle.closed
    assert handle.closed


# ---------------------------------------------------------------------------- wrong calls


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"device_ids": []}, "device_ids must not be empty"),
        ({"device_ids": "0-3"}, "device_ids must be a list of ints, found '0-3'"),
        ({"device_ids": 4}, "device_ids must be a list of ints, found 4"),
        ({"device_ids": [0, -1]}, "be non-negative"),
        ({"device_ids": [1, 1]}, "be distinct"),
        ({"num_sub_workers": -1}, "num_sub_workers"),
        ({"aicpu_thread_num": 1}, "aicpu_thread_num"),
    ],
)
def test_configurations_that_cannot_be(arguments, message):
    with pytest.raises(ValueError, match=message):
        DistributedConfig(**arguments)


def test_calls_that_cannot_be():
    made = compiled(programs.mesh_allreduce(2), 2)
    xs = numbers((2, 1, programs.SIZE))
    with pytest.raises(TypeError, match=r"host\(\) takes 2 arguments \(xs: In, ys: Out\), found 3"):
        made(xs, xs, xs)
    with pytest.raises(TypeError, match="'xs' must have elements of float32, found float64"):
        made(xs.astype(np.float64), xs)
    with pytest.raises(TypeError, match="'xs' must be a torch tensor or a numpy array, found NoneType"):
        made(None)
    with pytest.raises(TypeError, match="'ys' is not contiguous"):
        made(xs, np.zeros((2, 1, 2 * programs.SIZE), np.float32)[:, :, ::2])
    with pytest.raises(TypeError, match="must be a torch tensor or a numpy array, found list"):
        made(xs.tolist(), xs)
    with pytest.raises(ValueError, match=r"parameter 'xs' is \[2, 1, 12\], the argument \[3, 1, 12\]"):
        made(numbers((3, 1, programs.SIZE)), xs)
    with pytest.raises(ValueError, match="needs persistent=True"):
        made.prepare(reset_persistent_windows=True)
    with pytest.raises(ValueError, match="not sub-workers"):
        made.prepare(callbacks={"f": print})
    with pytest.raises(TypeError, match="^distributed_config must be a DistributedConfig, found list$"):
        ir.compile(programs.mesh_allreduce(2), distributed_config=[0, 1])
    with pytest.raises(TypeError, match="unexpected keyword argument 'wrong'"):
        ir.compile(programs.mesh_allreduce(2), wrong=1)


def test_a_buffer_is_bytes_in_multiples_of_32(tmp_path):
    source = Source(tmp_path, "return y", sig="nr, 4")
    text = source.text.replace("pld.alloc_window_buffer([nr, 4], dtype=pl.INT32)", "pld.alloc_window_buffer(nr)")
    source.path.write_text(text)
    assert source.compile(2, 4).verdicts[0].verdict == "proved"
    with pytest.raises(ValueError, match=r"a window of \[3, 4\] int32 needs 48 bytes, buffer 'sig_buf' has 3: alloc_window_buffer takes bytes"):
        source.compile(3, 4)


def test_a_buffer_that_no_dispatch_uses(tmp_path):
    source = Source(tmp_path, "return y")
    text = source.text.replace("for r in", "extra = pld.alloc_window_buffer(64)\n            for r in")
    source.path.write_text(text)
    with pytest.raises(ValueError, match="'extra' is never viewed"):
        source.compile(2, 4)


def test_a_platform_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match="^platform: expected a2a3, a2a3sim, a5, a5sim, found 'b3'$"):
        ir.compile(programs.mesh_allreduce(2), platform="b3", distributed_config=DistributedConfig(device_ids=[0, 1]))


def test_kernels_that_read_data_to_decide_are_refused_with_a_sentence(tmp_path):
    body = """
    for i in pl.range(pl.cast(pl.read(x, [0, 0]), pl.INDEX)):
        y = pl.store(pl.load(x, [0, 0], [1, n]), [0, 0], y)
    return y
    """
    source = Source(tmp_path, body, dtype="INT32")
    with pytest.raises(ValueError, match="a bound of a loop depends on a value that the kernel reads from memory") as error:
        source.compile(2, 4)
    line = source.line("pl.range(pl.cast")
    place, shown, caret = str(error.value).split("\n")
    assert place.startswith(f"{source.path}:{line}:31: ") and shown == f"   {line} |             for i in pl.range(pl.cast(pl.read(x, [0, 0]), pl.INDEX)):"
    assert caret == "      | " + " " * 30 + "^"


@pytest.mark.parametrize("write", ["pl.store(pl.load(x, [0, 0], [1, 1]), [0, 0], sig)", "pld.tensor.put(sig, 0, x)"])
def test_data_that_goes_into_a_signal_is_refused(tmp_path, write):
    body = f"""
    pld.system.notify(sig, me, [0, 0], 1, op=pld.NotifyOp.AtomicAdd)
    {write}
    return y
    """
    source = Source(tmp_path, body, x="nr, 1", dtype="INT32")
    with pytest.raises(ValueError, match=f"{source.path}:{source.line(write)}:.* 'sig_buf' holds signals and gets data here"):
        source.compile(2, 4)


CONDITIONS = [  # nr is a number of Python's: what is compared with it is known when the program is read
    ("me == 0 and nr > 1", [0]),
    ("nr > 1 and me == 0", [0]),
    ("me == 0 and nr > 9", []),
    ("me == 0 or nr > 9", [0]),
    ("nr > 1 or me == 0", [0, 1]),
    ("me == 0 or not nr > 9", [0, 1]),
    ("nr > 1 and not (me == 0 and nr > 1)", [1]),
    ("nr > 1 and n > 1", [0, 1]),
]


@pytest.mark.parametrize("condition, ranks", CONDITIONS)
def test_conditions_may_be_known_in_part(tmp_path, condition, ranks):
    body = f"if {condition}:\n    y = pl.store(pl.load(x, [0, 0], [1, n]), [0, 0], y)\nreturn y"
    made = Source(tmp_path, body).compile(2, 4)
    xs, ys = numbers((2, 1, 4)) + 10, np.zeros((2, 1, 4), np.float32)
    made(xs, ys)
    assert [r for r in range(2) if (ys[r] == xs[r]).all()] == ranks


# ---------------------------------------------------------------------------- verdicts

RACY = """
pl.store(pl.load(x, [0, 0], [1, n]), [0, 0], data)
return pl.store(pld.tile.remote_load(data, (me + 1) % nr, [0, 0], [1, n]), [0, 0], y)
"""


def test_a_refuted_kernel_runs_with_a_warning_or_not_at_all(tmp_path, monkeypatch, capfd):
    source = Source(tmp_path, RACY)
    monkeypatch.setenv("PEAL_CHECK", "warn")
    made = source.compile(2, 4)
    told = capfd.readouterr().err
    assert f"peal: kernel Tested of {source.path}: refuted: data race" in told
    assert f"(line {source.line('remote_load')})" in told
    [verdict] = made.verdicts
    assert told.endswith(f"  the counterexample: {verdict.page}\n")
    page = Path(verdict.page).read_text()
    assert "<title>Tested on 2 ranks is not proved</title>" in page and "data race" in page and "<svg" in page
    assert f"<p>{source.path}</p>" in page
    made(numbers((2, 1, 4)), np.zeros((2, 1, 4), np.float32))
    monkeypatch.setenv("PEAL_CHECK", "error")
    with pytest.raises(peal.Error, match="refuted: data race") as error:
        source.compile(2, 4)
    assert error.value.fault == "wrong"
    monkeypatch.setenv("PEAL_CHECK", "off")
    assert source.compile(2, 4).verdicts == [None]
    monkeypatch.setenv("PEAL_CHECK", "maybe")
    with pytest.raises(peal.Error, match="PEAL_CHECK: expected warn, error or off, found 'maybe'"):
        source.compile(2, 4)


SELF_CLEARING = """
for i in pl.range(2):
    for peer in pl.range(nr):
        if peer != me:
            pld.system.notify(sig, peer, [0, 0], 1, op=pld.NotifyOp.AtomicAdd)
    pld.system.wait(sig, [0, 0], nr - 1, cmp=pld.WaitCmp.Ge)
    pld.system.notify(sig, me, [0, 0], 1 - nr, op=pld.NotifyOp.AtomicAdd)
return y
"""


def test_a_proof_that_does_not_end_in_its_time(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("PEAL_CHECK", "warn")
    monkeypatch.setattr(verdicts, "prove_hosted", partial(verdicts.prove_hosted, max_seconds=0.1))
    source = Source(tmp_path, SELF_CLEARING)
    [verdict] = source.compile(8, 4).verdicts
    words = f"kernel Tested of {source.path}: not decided: 0.1 seconds"
    assert (verdict.verdict, str(verdict), verdict.lines) == ("bound", words, [])
    assert capfd.readouterr().err == f"peal: {words}\n"
    monkeypatch.setenv("PEAL_CHECK", "error")
    with pytest.raises(peal.Error, match="not decided") as error:
        source.compile(8, 4)
    assert error.value.fault == "bound"


def test_a_proof_that_knows_no_result_says_so(tmp_path):
    [verdict] = Source(tmp_path, "return y").compile(2, 4).verdicts
    assert (verdict.verdict, verdict.meaning, verdict.is_protocol_only) == ("proved", None, True)
    assert str(verdict).endswith(": proved: no race, no deadlock; of the result nothing is known (protocol only)")
    assert repr(verdict) == f"<{verdict}>"
    [verdict] = compiled(programs.mesh_allreduce(2), 2).verdicts
    assert not verdict.is_protocol_only
    assert str(verdict).endswith(": proved: no race, no deadlock; ys is the allreduce (sum) of xs")


@pytest.mark.parametrize("check, line", [("warn", "1 proved (1 with its result), 0 refuted, 0 for this input only"), ("off", "1 not checked")])
def test_a_run_ends_with_one_line(tmp_path, check, line):
    script = tmp_path / "main.py"
    script.write_text(
        textwrap.dedent(
            f"""
            import sys
            sys.path.insert(0, {str(Path(__file__).parent)!r})
            import numpy as np, programs
            from frame import compiled
            made = compiled(programs.mesh_allreduce(2), 2)
            made(np.ones((2, 1, 12), np.float32))
            """
        )
    )
    environment = {**os.environ, "PEAL_CHECK": check}
    done = subprocess.run([sys.executable, "-B", script], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout == ""
    assert done.stderr == f"peal: kernels: {line}\n"


def test_the_line_tells_proofs_of_the_protocol_from_proofs_of_the_result(tmp_path):
    script = tmp_path / "main.py"
    script.write_text(
        f"import sys\nsys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from pathlib import Path\nimport programs\nfrom frame import Source, compiled\n"
        f"compiled(programs.mesh_allreduce(2), 2)\nSource(Path({str(tmp_path)!r}), 'return y').compile(2, 4)\n"
    )
    done = subprocess.run([sys.executable, "-B", script], capture_output=True, text=True, check=True)
    shown = "2 proved (1 with its result, 1 protocol only: no race, no deadlock), 0 refuted, 0 for this input only"
    assert done.stderr == f"peal: kernels: {shown}\n"


def test_kernels_are_written_where_programs_are_built(tmp_path, monkeypatch):
    monkeypatch.setenv("PYPTO_PROG_BUILD_DIR", str(tmp_path))
    made = compiled(programs.mesh_allreduce(2), 2)
    assert isinstance(made, DistributedCompiledProgram)
    assert made.output_dir.parent == tmp_path
    assert (made.output_dir / "MeshAllreduce.peal").read_text().startswith("kernel MeshAllreduce(")


def test_a_directory_that_is_named_is_written(tmp_path, monkeypatch):
    monkeypatch.delenv("PYPTO_PROG_BUILD_DIR", raising=False)
    place = tmp_path / "here" / "kernels"
    made = ir.compile(programs.mesh_allreduce(2), place, distributed_config=DistributedConfig(device_ids=[0, 1]))
    assert made.output_dir == place and (place / "MeshAllreduce.peal").is_file()


def test_no_directory_is_given_twice(tmp_path, monkeypatch):
    for build_dir in (str(tmp_path), ""):  # written, and only named
        monkeypatch.setenv("PYPTO_PROG_BUILD_DIR", build_dir)
        places = [compiled(programs.mesh_allreduce(2), 2).output_dir for _ in range(4)]
        assert len(set(places)) == 4


def test_run_configurations():
    config = RunConfig(platform="a2a3sim", dump_passes=True)
    assert (config.platform, config.rtol, config.distributed_config) == ("a2a3sim", 1e-5, None)
    with pytest.raises(TypeError, match="unexpected keyword argument 'wrong'"):
        RunConfig(wrong=1)


RING_GET = """
pl.store(pl.load(x, [0, 0], [1, n]), [0, 0], data)
pld.system.notify(sig, (me + 1) % nr, [0, 0], 1, op=pld.NotifyOp.AtomicAdd)
pld.system.wait(sig, [0, 0], 1, cmp=pld.WaitCmp.Ge)
pld.tensor.get(y, (me + 1) % nr, data)
return y
"""


@pytest.mark.parametrize("nr, verdict", [(2, "proved"), (3, "violated")])
def test_a_ring_of_gets_is_ordered_between_two_ranks_only(tmp_path, nr, verdict):
    """Each rank waits for its writer, and reads the other neighbour: with two ranks they are one."""
    source = Source(tmp_path, RING_GET)
    [found] = source.compile(nr, 4).verdicts
    assert found.verdict == verdict
    if verdict == "violated":
        assert found.lines == [source.line("pl.store(pl.load(x"), source.line("tensor.get")]


# ---------------------------------------------------------------------------- domains


def test_a_device_in_two_domains_has_a_rank_in_each():
    made = compiled(programs.pairs(), 4)
    xs = numbers((4, 1, programs.SIZE)) + 10
    left, right = np.zeros_like(xs), np.zeros_like(xs)
    for _ in range(2):
        made(xs, left, right)
        np.testing.assert_array_equal(left[:2], xs[1::-1])
        np.testing.assert_array_equal(right[1:3], xs[2:0:-1])
        assert not left[2:].any() and not right[0].any() and not right[3].any()
    assert [v.verdict for v in made.verdicts] == ["proved", "proved"]


INTERLEAVED = """\
            w = pld.window(a, [1, n], dtype=pl.FP32)
            s = pld.window(a_sig, [2, 1], dtype=pl.INT32)
            w2 = pld.window(b, [1, n], dtype=pl.FP32)
            s2 = pld.window(b_sig, [2, 1], dtype=pl.INT32)
            for r in pl.range(2):
                self.chip(xs[r], left[r], w, s, device=r)
                self.chip(xs[r + 1], right[r + 1], w2, s2, device=r + 1)
"""


def test_domains_whose_dispatches_alternate_do_not_wait_for_ever(tmp_path):
    """Device 0 waits for device 1, which has the other domain's work to do first."""
    text = Path(programs.__file__).read_text()
    begin = text.index("            for r in pl.range(2):\n                w = pld.window(a, ")
    end = text.index("            return left, right")
    path = tmp_path / "alternating.py"
    path.write_text(text[:begin] + INTERLEAVED + text[end:])
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made = compiled(module.pairs(), 3 + 1)
    xs = numbers((4, 1, programs.SIZE)) + 10
    left, right = np.zeros_like(xs), np.zeros_like(xs)
    made(xs, left, right)
    np.testing.assert_array_equal(left[:2], xs[1::-1])
    np.testing.assert_array_equal(right[1:3], xs[2:0:-1])
    assert [v.verdict for v in made.verdicts] == ["proved", "proved"]


def test_a_dispatch_may_have_windows_of_two_domains():
    """A rank has a number in each."""
    made = compiled(programs.pairs_and_all(), 4)
    [verdict] = made.verdicts
    assert (verdict.verdict, verdict.meaning) == ("proved", "ys is the allreduce (sum) of xs")
    xs, ys = numbers((4, 1, programs.SIZE)), np.full((4, 1, programs.SIZE), 77, np.float32)
    for _ in range(2):
        made(xs, ys)
        np.testing.assert_array_equal(ys, total(xs))


def test_a_dispatch_to_a_device_that_is_not_there():
    with pytest.raises(ValueError, match="there is no device 2: the call has 2"):
        compiled(programs.pairs(), 2)


def test_devices_with_functions_of_their_own_run_beside_each_other():
    """The receiver is dispatched first and waits for the sender."""
    made = compiled(programs.two_roles(), 2)
    xs, ys = numbers((1, programs.SIZE)) + 10, np.zeros((1, programs.SIZE), np.float32)
    made(xs, ys)
    np.testing.assert_array_equal(ys, xs)
    assert [v.verdict for v in made.verdicts] == ["proved"]
