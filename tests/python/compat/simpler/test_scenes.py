# SPDX-License-Identifier: Apache-2.0
"""Scene tests: collected by pytest with the plugin, started as a program, and what is said of wrong ones."""

import ctypes
import re

import numpy
import pytest
from driver_places import SCENES, lines_named, run_program
from simpler_setup import Scalar, SceneTestCase, TaskArgsBuilder, TensorArg, scene_test
from simpler_setup.scene_test import _rehosted_ref, scene_test as decorator


WITHOUT_A_SYNC = [  # what it is found as, and a line that the finding names
    ("data race", "TLOAD(sum, RowAt(RemotePtr(context, scratch, 0), count));"),
    ("pipe hazard", "TADD(sum, sum, row);"),
    ("pipe hazard", "TSTORE(RowAt(output, count), sum);"),
]


def pytest_run(*options):
    """Exit status and the report's lines."""
    command = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--noconftest", "-p", "simpler_setup.pytest_plugin"]
    status, out, _ = run_program(*command, *options, SCENES / "scenes.py")
    return status, out


def test_they_are_collected_and_proved():
    status, out = pytest_run("--platform", "a2a3sim", "--device", "0-3")
    assert status == 0 and "3 passed, 2 deselected" in out, out
    assert "peal: kernels: 0 proved, 0 refuted, 6 for this input only" in out


def test_what_is_chosen_by_hand_fails_as_it_must():
    status, out = pytest_run("--platform", "a2a3sim", "--device", "4-5", "--manual", "only")
    assert status == 1 and "2 failed, 1 passed, 2 deselected" in out, out
    assert "RuntimeError: allreduce on 2 ranks is not proved: data race: rank 0" in out and "sum_kernel.cpp:20" in out
    assert "TestWithoutASync::wrong1" in out  # which case it is
    assert "AssertionError: TestMistaken::mistaken: y is not what it must be (rtol 1e-05, atol 1e-05): the largest difference is 143.0" in out


def test_without_a_platform_or_devices_they_say_so():
    status, out = pytest_run("-rs")
    assert status == 0 and "5 skipped" in out and "no --platform was given" in out, out
    status, out = pytest_run("--platform", "a2a3sim", "--case", "TestAllreduce::p2")
    assert status == 1 and "needs 2 devices; --device has 1 that are free" in out, out


def test_a_file_of_them_is_a_program():
    def run(*options):
        return run_program(SCENES / "scenes.py", *options)

    status, out, err = run("-p", "a5sim", "-d", "0-2", "--case", "TestAllreduce::p3", "--case", "TestTwice::", "--rounds", "2")
    assert (status, out) == (0, "TestAllreduce::p3 PASSED\nTestTwice::right PASSED\nTestTwice::not_compared PASSED\n"), err
    status, out, _ = run("-p", "a2a3sim", "--case", "mistaken", "--manual", "include")
    assert status == 1 and out.startswith("TestMistaken::mistaken FAILED: y is not what it must be")
    status, out, _ = run("-p", "a2a3sim", "-d", "0,1", "--case", "TestWithoutASync::", "--manual", "include")
    found = [line for line in out.split("\n") if line.startswith("TestWithoutASync::")]
    assert status == 1 and len(found) == 3, out
    for n, (kind, line) in enumerate(WITHOUT_A_SYNC, 1):
        words = out.split(f"TestWithoutASync::wrong{n} FAILED: ")[1].split("TestWithoutASync::")[0]
        assert words.startswith(f"allreduce on 2 ranks is not proved: {kind}: ")
        assert line in lines_named(words, "sum_kernel.cpp"), words
    assert run("-p", "a2a3sim", "--case", "nothing")[0::2] == (2, "no case is selected\n")
    assert run("-p", "a2a3sim", "--case", "p2")[0::2] == (2, "TestAllreduce needs 2 devices, --device has 1\n")
    assert run("-d", "0")[0] == 2


# ---------------------------------------------------------------------------- what classes and arguments say


def test_arguments_have_names_and_an_order():
    x = numpy.arange(4, dtype="f4")
    args = TaskArgsBuilder(TensorArg("x", x), Scalar("n", ctypes.c_int32(4)))
    assert (args.x is x, args.n.value, args.tensor_names(), [s.name for s in args.specs]) == (True, 4, ["x"], ["x", "n"])
    copy = args.clone()
    copy.x[0] = 9
    copy.n.value = 5
    assert (x[0], args.n.value) == (0, 4)
    for wrong, words in [
        (TensorArg("y", x), "comes behind a scalar"),
        (Scalar("n", 1), "two arguments have the name 'n'"),
        (Scalar("clone", 1), "it is that of a method"),
    ]:
        with pytest.raises(ValueError, match=words):
            args._add(wrong)
    with pytest.raises(AttributeError, match="there is no argument 'z'; there are x, n"):
        args.z
    with pytest.raises(ValueError, match="no argument of the scene that is running"):
        _rehosted_ref(args, "x")


def test_a_class_says_what_it_needs():
    assert decorator is scene_test
    shared = {"orchestration": {"source": "a/b.cpp", "function_name": "f"}, "incores": []}

    @scene_test(level=2, runtime="tensormap_and_ringbuffer")
    class One(SceneTestCase):
        CALLABLE = shared

    @scene_test(level=2, runtime="tensormap_and_ringbuffer")
    class Two(SceneTestCase):
        CALLABLE = shared

    assert One.CALLABLE == Two.CALLABLE and shared["orchestration"]["source"] == "a/b.cpp"
    assert re.fullmatch(r"/.*/simpler/a/b.cpp", One.CALLABLE["orchestration"]["source"])
    with pytest.raises(ValueError, match="Three::c: config: expected aicpu_thread_num, .*, found 'devices'"):

        @scene_test(level=3, runtime="tensormap_and_ringbuffer")
        class Three(SceneTestCase):
            CASES = [{"name": "c", "config": {"devices": 2}}]


def test_tensors_that_overlap_or_have_gaps_are_refused():
    from simpler.worker import Worker
    from simpler_setup._scenes.arguments import hosted

    x = numpy.arange(8, dtype="f4")
    with Worker(level=3, platform="a2a3sim", device_ids=[0]) as worker:
        worker.init()
        for tensors, words in [
            ((x[:5], x[4:]), "arguments 't0' and 't1' overlap in memory"),
            ((x[::2],), "argument 't0': expected a contiguous tensor"),
        ]:
            with pytest.raises(ValueError, match=words):
                with hosted(worker, TaskArgsBuilder(*(TensorArg(f"t{i}", t) for i, t in enumerate(tensors)))):
                    pass
        args = TaskArgsBuilder(TensorArg("x", x), TensorArg("empty", x[:0]))
        with hosted(worker, args):
            args.x[0] = 7
            assert x[0] == 0 and _rehosted_ref(args, "x").shapes == (8,)
        assert args.x is x and x[0] == 7
