# SPDX-License-Identifier: Apache-2.0
"""The communicator: every collective in every style, windows, kernels, and what goes wrong."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import peal

EXAMPLES = Path(__file__).parents[2] / "examples"
COMMAND = os.environ["PEAL_COMMAND"]
RANKS = [1, 2, 3]
OPS = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}


def numbers(rank, count, dtype="f8"):
    return ((np.arange(count) * 7 + rank * 3) % 5 + 1).astype(dtype)


def everybody(ranks, count, dtype="f8"):
    return [numbers(rank, count, dtype) for rank in range(ranks)]


# ---- results, against what numpy says


@pytest.mark.parametrize("ranks", RANKS)
def test_allreduce(ranks):
    def body(comm):
        for dtype in ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]:
            for op, combine in OPS.items():
                for count in [0, 1, 5, 1000]:
                    expected = combine.reduce(everybody(comm.nranks, count, dtype), dtype=dtype)
                    mine = numbers(comm.rank, count, dtype)
                    out = np.empty(count, dtype)
                    assert comm.allreduce(mine, out, op=op) is out
                    np.testing.assert_array_equal(out, expected)
                    assert comm.allreduce(mine, op=op) is mine
                    np.testing.assert_array_equal(mine, expected)

    peal.spawn(ranks, body)


@pytest.mark.parametrize("ranks", RANKS)
def test_all_others(ranks):
    n = 6

    def body(comm):
        rank, size = comm.rank, comm.nranks
        vectors, blocks = everybody(size, n), everybody(size, n * size)
        mine, mine_blocks, out, out_blocks = vectors[rank], blocks[rank], np.zeros(n), np.zeros(n * size)
        own = slice(rank * n, (rank + 1) * n)
        root = size - 1

        comm.reduce_scatter(mine_blocks, out)
        np.testing.assert_array_equal(out, sum(blocks)[own])
        comm.allgather(mine, out_blocks)
        np.testing.assert_array_equal(out_blocks, np.concatenate(vectors))
        comm.all_to_all(mine_blocks, out=out_blocks)
        np.testing.assert_array_equal(out_blocks, np.concatenate([each[own] for each in blocks]))
        buffer = mine.copy()
        comm.broadcast(buffer, root=root)
        np.testing.assert_array_equal(buffer, vectors[root])
        out[:] = -1
        comm.reduce(mine, out, op="max", root=root)
        np.testing.assert_array_equal(out, np.maximum.reduce(vectors) if rank == root else [-1] * n)
        gathered = np.zeros(n * size if rank == root else 0)
        comm.gather(mine, gathered, root=root)
        np.testing.assert_array_equal(gathered, np.concatenate(vectors) if rank == root else [])
        comm.scatter(mine_blocks if rank == root else np.zeros(0), out, root=root)
        np.testing.assert_array_equal(out, blocks[root][own])
        comm.scan(mine, out)
        np.testing.assert_array_equal(out, sum(vectors[: rank + 1]))
        out[:] = -1
        comm.exscan(mine, out)
        np.testing.assert_array_equal(out, sum(vectors[:rank]) if rank else [-1] * n)
        comm.barrier()

        counts = [[(r + 2 * d) % 3 + 1 for d in range(size)] for r in range(size)]
        sent = np.concatenate([np.full(counts[rank][d], 10 * rank + d) for d in range(size)])
        got = np.zeros(sum(counts[r][rank] for r in range(size)), sent.dtype)
        comm.all_to_all_v(sent, got, counts=counts)
        np.testing.assert_array_equal(got, np.concatenate([np.full(counts[r][rank], 10 * r + rank) for r in range(size)]))
        pieces = [r + 1 for r in range(size)]
        all_pieces = np.zeros(sum(pieces))
        comm.allgather_v(np.full(pieces[rank], float(rank)), all_pieces, counts=pieces)
        np.testing.assert_array_equal(all_pieces, np.repeat(np.arange(size), pieces))
        piece = np.zeros(pieces[rank])
        comm.reduce_scatter_v(np.ones(sum(pieces)), piece, counts=np.array(pieces), op="sum")
        np.testing.assert_array_equal(piece, [size] * pieces[rank])

    peal.spawn(ranks, body)


def test_started_and_prepared():
    def body(comm):
        vectors = everybody(comm.nranks, 100)
        first, second = vectors[comm.rank].copy(), vectors[comm.rank].copy()
        one, two = comm.start_allreduce(first), comm.start_scan(second)
        two.wait()
        one.wait()
        np.testing.assert_array_equal(first, sum(vectors))
        np.testing.assert_array_equal(second, sum(vectors[: comm.rank + 1]))
        pending = comm.start_barrier()
        while not pending.test():
            pass
        buffer = np.zeros(4)
        prepared = comm.prepare_allreduce(buffer, op="max")
        for call in range(5):
            buffer[:] = comm.rank + call
            prepared.run() if call % 2 else prepared.start().wait()
            np.testing.assert_array_equal(buffer, [comm.nranks - 1 + call] * 4)
        comm.start_allreduce(np.ones(1000))  # let go of at once: it is waited for, with its array
        comm.barrier()

    peal.spawn(3, body)


def test_messages():
    def body(comm):
        rank, nranks = comm.rank, comm.nranks
        right, left = (rank + 1) % nranks, (rank - 1) % nranks
        mine, theirs = np.full(5, float(rank)), np.empty(5)
        found = [comm.sendrecv(mine, right, theirs, left)[0]]
        assert found[0] == theirs[4] == left
        if rank == 0:
            for peer in range(1, nranks):
                comm.send(np.arange(peer, dtype="i4"), to=peer)
                comm.send(bytearray(b"second"), to=peer)
        else:
            first, second = np.empty(rank, "i4"), np.empty(6, "u1")
            assert comm.recv(first, source=0) is first
            comm.recv(second, 0)
            assert (first.tolist(), second.tobytes()) == (list(range(rank)), b"second")
        # A large one waits for its receiver: started, everybody can begin with sending.
        large, got = np.full(1 << 18, rank, "f8"), np.empty(1 << 18)
        pending = [comm.start_recv(got, left), comm.start_send(large, right)]
        for each in pending:
            each.wait()
        assert (got == left).all()
        both = comm.start_sendrecv(mine, left, theirs, right)
        while not both.test():
            pass
        assert theirs[0] == right
        # With both neighbours at once, of which one only listens.
        around = np.empty((2, 3), "f4")
        own = np.full(3, rank, "f4")
        comm.exchange([(right, own, None), (left, None, around[0])])
        comm.start_exchange([(right, own, around[1]), (left, own, np.empty(3, "f4"))]).wait()
        return around[:, 0].tolist()

    for ranks in (3, 4):
        assert peal.spawn(ranks, body) == [[(r - 1) % ranks, (r + 1) % ranks] for r in range(ranks)]


def test_wrong_messages():
    def body(comm):
        words = []
        for call in (
            lambda: comm.send(np.zeros((4, 4))[:, 0], 1 - comm.rank),
            lambda: comm.recv(bytes(4), 1 - comm.rank),
            lambda: comm.send(np.zeros(1), 2),
            lambda: comm.exchange([(1, np.zeros(1))]),
        ):
            with pytest.raises(peal.Error) as caught:
                call()
            words.append(str(caught.value))
        return words

    for words in peal.spawn(2, body):
        assert words[0].startswith("send: buffer: ") and words[1].startswith("recv: buffer: ")
        assert "2" in words[2] and words[3].startswith("exchange: neighbour 0: expected (rank, sent, received), found (1, ")


def test_windows_are_arrays():
    def body(comm):
        for dtype in ["f16", "bf16", np.float32, "i64", "u8"]:
            window = comm.window(10, dtype)
            assert len(window) == 10 and not window.array.any()
            window.array[:] = comm.rank + 1
            if window.dtype != "bf16":
                comm.allreduce(window)
                np.testing.assert_array_equal(np.asarray(window), [6] * 10)
        window = comm.window(3)
        window.array[:] = comm.rank
        comm.barrier()
        np.testing.assert_array_equal(window.on((comm.rank + 1) % 3), [(comm.rank + 1) % 3] * 3)
        comm.barrier()
        comm.start_allgather(comm.window(6)).wait()
        kept = comm.window(2).array  # the array keeps the memory
        kept[:] = 5
        assert kept.sum() == 10
        assert repr(window) == "<peal.Window f32[3]>"
        with pytest.raises(peal.Error, match=r"^rank: expected 0\.\.2, found 3$"):
            window.on(3)
        for make, wrong, words in [
            (comm.window, -1, "^count: expected 0 or more, found -1$"),
            (comm.window, "3", "^count: expected an integer, found str$"),
            (comm.signals, -2, "^cells: expected 0 or more, found -2$"),
        ]:
            with pytest.raises(peal.Error, match=words):
                make(wrong)
        with pytest.raises(peal.Error, match="^allreduce: a window is input and result; leave out 'out'$"):
            comm.allreduce(window, np.zeros(3, "f4"))

    peal.spawn(3, body)


def test_split():
    def body(comm):
        half = comm.split(comm.rank % 2, key=-comm.rank)
        assert half.nranks == 2 and half.rank == (1 if comm.rank < 2 else 0)
        value = np.array([comm.rank])
        half.allreduce(value)
        assert value[0] == (2 if comm.rank % 2 == 0 else 4)
        return repr(half)

    assert peal.spawn(4, body)[0] == "<peal.Communicator rank 1 of 2>"


def test_kernels():
    mesh = peal.parse_file(EXAMPLES / "mesh_allreduce.peal")

    def body(comm):
        inputs = everybody(comm.nranks, 16, "f4")
        for kernel in [comm.kernel(mesh, n=16), comm.kernel(peal.compile(mesh, comm.nranks, sizes={"n": 16}))]:
            data, sig, out = comm.window(16), comm.signals(comm.nranks), np.zeros(16, "f4")
            for _ in range(3):
                out[:] = 0
                kernel(inputs[comm.rank], out, data, sig)
                np.testing.assert_array_equal(out, sum(inputs))
            prepared = kernel.prepare(inputs[comm.rank], out, data, sig)
            for _ in range(3):
                prepared.run()
            np.testing.assert_array_equal(out, sum(inputs))
            with pytest.raises(peal.Error):
                kernel(inputs[comm.rank], out, data)
            comm.barrier()

    peal.spawn(2, body)


def test_anything_with_a_buffer():
    import array

    class Dlpack:
        def __init__(self, held):
            self.held = held

        def __dlpack__(self, stream=None):
            return self.held.__dlpack__()

        def __dlpack_device__(self):
            return self.held.__dlpack_device__()

    def body(comm):
        plain = array.array("d", [1.0, 2.0])
        comm.allreduce(plain)
        assert list(plain) == [2.0, 4.0]
        data = bytearray([1, 2, 3])
        comm.allreduce(memoryview(data))
        assert list(data) == [2, 4, 6]
        tensor = Dlpack(np.ones((2, 3), "f4"))
        comm.allreduce(tensor)
        np.testing.assert_array_equal(tensor.held, np.full((2, 3), 2))
        half = np.full(3, 0x3F80, "u2")
        comm.allreduce(peal.bits(half, "bf16"))
        np.testing.assert_array_equal(half, [0x4000] * 3)

    peal.spawn(2, body)


# ---- what is refused


def test_wrong_arguments():
    def body(comm):
        a = np.zeros((4, 4))
        read_only = np.zeros(3)
        read_only.flags.writeable = False
        for call, kind, message in [
            (lambda: comm.allreduce(a[:, 0]), peal.Error, r"^allreduce: buffer: expected a contiguous array of .*, found a numpy.ndarray of shape \[4\] with gaps: strides of \[32\] bytes$"),
            (lambda: comm.allreduce(read_only), peal.Error, "^allreduce: buffer: .* found a read-only array, which is to be written$"),
            (lambda: comm.start_reduce(a, read_only), peal.Error, "^start_reduce: out: "),
            (lambda: comm.allreduce([1.0]), peal.Error, "^allreduce: buffer: .* found list$"),
            (lambda: comm.allreduce(np.zeros(2, "?")), peal.Error, r"elements '\?' of 1 bytes"),
            (lambda: comm.allreduce(np.zeros(2, "c16")), peal.Error, "elements 'Zd' of 16 bytes"),
            (lambda: comm.allreduce(a, op="xor"), peal.Error, "^op: there is no 'xor'; choose one of sum, prod, max, min$"),
            (lambda: comm.allreduce(a, op=3), peal.Error, "^op: expected a word such as 'sum', found int$"),
            (lambda: comm.allreduce(a, np.zeros(3)), peal.Error, ""),
            (lambda: comm.allreduce(a, np.zeros(16, "f4")), peal.Error, ""),
            (lambda: comm.broadcast(a, root=7), peal.Error, "root"),
            (lambda: comm.allreduce(), TypeError, r"^allreduce\(\) is missing the argument 'buffer'$"),
            (lambda: comm.allreduce(a, a, a), TypeError, r"^allreduce\(\) takes 2 positional arguments but 3 were given$"),
            (lambda: comm.allreduce(a, root=0), TypeError, r"^allreduce\(\) got an unexpected keyword argument 'root'$"),
            (lambda: comm.allreduce(a, buffer=a), TypeError, r"^allreduce\(\) got multiple values for argument 'buffer'$"),
            (lambda: comm.gather(a), TypeError, r"^gather\(\) is missing the argument 'out'$"),
            (lambda: comm.broadcast(a, a), TypeError, "in place"),
            (lambda: comm.all_to_all_v(a, a), TypeError, r"^all_to_all_v\(\) is missing the argument 'counts'$"),
            (lambda: comm.barrier(a), TypeError, r"^barrier\(\) takes 0 positional arguments but 1 were given$"),
        ]:
            with pytest.raises(kind, match=message):
                call()
        comm.allreduce(a)  # nothing has happened to the communicator
        comm.allreduce(buffer=a, out=None, op="max")

    peal.spawn(1, body)


def test_no_place_among_ranks():
    with pytest.raises(peal.Error, match="peal launch") as caught:
        peal.connect()
    assert caught.value.fault == "usage"


def test_documents():
    assert "the combination of all ranks' vectors" in peal.Communicator.allreduce.__doc__
    import inspect

    assert str(inspect.signature(peal.Communicator.reduce)) == "(self, /, buffer, out=None, *, op='sum', root=0)"


# ---- spawn


def test_spawn_returns_what_ranks_return():
    assert peal.spawn(3, lambda comm, a, b: (comm.rank, a, b), 1, "x") == [(0, 1, "x"), (1, 1, "x"), (2, 1, "x")]


def test_spawn_raises_what_a_rank_raises(capfd):
    def body(comm):
        if comm.rank == 1:
            raise ValueError("no data")
        comm.barrier()

    with pytest.raises(ValueError, match="^no data$") as caught:
        peal.spawn(3, body)
    assert caught.value.__notes__ == ["raised by rank 1 of 3"]
    assert "rank 1: ValueError: no data" in capfd.readouterr().err


def test_a_rank_that_is_killed(capfd):
    def body(comm):
        if comm.rank == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        with pytest.raises(peal.Error, match="rank 0 .*died"):
            comm.barrier()

    with pytest.raises(peal.Error, match="rank 0 of 2 was killed by signal 9"):
        peal.spawn(2, body)


def test_ranks_that_differ_are_told_where():
    def body(comm):
        with pytest.raises(peal.Error, match="the ranks made different calls") as caught:
            if comm.rank == 0:
                comm.allreduce(np.zeros(3))
            else:
                comm.broadcast(np.zeros(3))
        assert caught.value.fault == "wrong"
        return str(caught.value)

    for message in peal.spawn(2, body):
        assert "test_communicator.py:" in message


def test_the_interpreter_is_free_meanwhile():
    def body(comm):
        steps = []
        if comm.rank == 0:
            waiting = threading.Thread(target=comm.barrier)
            waiting.start()
            while not steps:
                steps.append(1)  # this thread runs while the other waits
            open_gate = np.ones(1)
            gate.write(b"x")
            gate.flush()
            waiting.join()
            return open_gate.sum()
        gate_reader.read(1)
        comm.barrier()
        return 1.0

    reading, writing = os.pipe()
    with open(reading, "rb", buffering=0) as gate_reader, open(writing, "wb") as gate:
        assert peal.spawn(2, body) == [1.0, 1.0]


# ---- under the command


def launch(program, *arguments, ranks=2, **options):
    return subprocess.run([COMMAND, "launch", "-n", str(ranks), sys.executable, "-c", program, *arguments],
                          capture_output=True, text=True, timeout=60, **options)


def test_launch():
    done = launch("import peal, numpy as np\n"
                  "comm = peal.connect()\n"
                  "x = np.full(3, comm.rank + 1.0)\n"
                  "comm.allreduce(x)\n"
                  "assert x.tolist() == [6, 6, 6]\n"
                  "import os; os.write(1, f'rank {comm.rank} of {comm.nranks}\\n'.encode())\n", ranks=3)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == ["rank 0 of 3", "rank 1 of 3", "rank 2 of 3"]


def test_a_program_that_dies_takes_its_ranks_with_it():
    program = subprocess.Popen(
        [sys.executable, "-c",
         "import peal, os\n"
         "def body(comm):\n"
         "    os.write(1, f'{os.getpid()}\\n'.encode())\n"
         "    if comm.rank == 0: comm.barrier()\n"
         "    import time; time.sleep(1000)\n"
         "peal.spawn(2, body)\n"],
        stdout=subprocess.PIPE, text=True)
    for _ in range(2):
        int(program.stdout.readline())  # a rank that waits, or sleeps
    program.kill()
    assert program.stdout.read() == ""  # ends when nobody holds it any more
    program.wait()


@pytest.mark.parametrize("what", ["comm.barrier()", "comm.start_barrier().wait()", "comm.window(4)",
                                  "comm.prepare_barrier().run()", "comm.split(0)",
                                  # between start and wait: the call is let go while Ctrl-C goes by
                                  "comm.start_barrier().wait(signal.raise_signal(signal.SIGINT))"])
def test_ctrl_c_interrupts_a_wait(what):
    program = subprocess.Popen(
        [sys.executable, "-c",
         "import peal, os, signal\n"
         "reading, writing = os.pipe()\n"
         "def body(comm):\n"
         "    if comm.rank == 1:\n"
         "        os.read(reading, 1)  # until rank 0 has gone on\n"
         "        try:\n"
         "            comm.barrier()\n"
         "        except peal.Error as error:\n"
         "            return str(error)\n"
         "    try:\n"
         "        print(os.getpid(), flush=True)\n"
         f"        {what}\n"
         "    except KeyboardInterrupt:\n"
         "        os.write(writing, b'x')\n"
         "        return 'interrupted'\n"
         "print(peal.spawn(2, body))\n"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    rank_0 = int(program.stdout.readline())
    if "raise_signal" not in what:
        os.kill(rank_0, signal.SIGINT)
    out, err = program.communicate(timeout=60)
    assert program.returncode == 0, err
    # As the signal came in the wait, or just before it; tests/comm has the first for sure.
    assert out.startswith(("['interrupted', 'rank 0 was interrupted while others wait for it:",
                           "['interrupted', 'rank 0 has left the communicator")), out
