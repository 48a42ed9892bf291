# SPDX-License-Identifier: Apache-2.0
"""An allreduce between two Python processes, in place on numpy arrays: Peal beside mpi4py, and beside
Peal's own C++ call.

    make bench-python

Prints a row for each size: the median, in microseconds, and the two ratios that count. Then it runs a
driver written for the seeds' runtime, a ring allreduce of 256 floats on two chips.
Exits with 1 if a limit is exceeded: `import peal` takes at most 60 ms; Python adds at most 0.6 us to 8 bytes,
and up to 64 KiB takes at most 0.6 of mpi4py's time; a call of the driver takes at most 1 ms from the second
on, and all of it, with kernels that were compiled before, 1 s more than the import of torch.
"""

import json
import os
import re
import statistics
import subprocess
import sys
import time

SIZES = [8, 64, 512, 4096, 16384, 65536]
ROUNDS, MOST_ADDED, MOST_RATIO = 40, 0.6, 0.6
DRIVERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/python/compat/simpler/drivers")
IMPORTS, MOST_IMPORT = 11, 0.060
DRIVER_RUNS, MOST_DRIVER_CALL, MOST_DRIVER = 5, 1e-3, 1.0


def measure(allreduce, barrier):
    """Seconds per call, by size."""
    import numpy as np

    times = {}
    for size in SIZES:
        buffer = np.zeros(size // 4, "f4")
        calls = max(50, 400_000 // (size + 400))
        rounds = []
        for _ in range(ROUNDS):
            barrier()
            begin = time.perf_counter()
            for _ in range(calls):
                allreduce(buffer)
            rounds.append((time.perf_counter() - begin) / calls)
        times[size] = statistics.median(rounds)
    return times


def with_peal():
    import peal

    ranks = peal.spawn(2, lambda comm: measure(comm.allreduce, comm.barrier))
    return {size: max(times[size] for times in ranks) for size in SIZES}


def with_mpi4py():
    words = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", sys.executable, __file__, "rank"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    ranks = [json.loads(line) for line in done.stdout.splitlines()]
    return {size: max(times[str(size)] for times in ranks) for size in SIZES}


def as_mpi_rank():
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    times = measure(lambda buffer: world.Allreduce(MPI.IN_PLACE, buffer), world.Barrier)
    sys.stdout.write(json.dumps(times) + "\n")


def with_driver(command):
    """Seconds: each call of the driver, all of it but torch; medians of some runs."""
    path = subprocess.run([command, "python-path", "--compat"], capture_output=True, text=True, check=True).stdout
    environment = {**os.environ, "PYTHONPATH": path.strip()}
    calls, wholes = [], []
    for _ in range(1 + DRIVER_RUNS):
        begin = time.perf_counter()
        words = [sys.executable, __file__, "driver"]
        done = subprocess.run(words, capture_output=True, text=True, check=True, env=environment)
        told = json.loads(done.stdout.splitlines()[-1])
        calls.append(told["calls"])
        wholes.append(time.perf_counter() - begin - told["torch"])
    # The first run compiles.
    return [statistics.median(each) for each in zip(*calls[1:])], statistics.median(wholes[1:])


def as_driver():
    begin = time.perf_counter()
    import torch  # noqa: F401

    of_torch = time.perf_counter() - begin
    sys.path.insert(0, DRIVERS)
    import ring_allreduce
    from simpler.worker import Worker

    calls, run = [], Worker.run

    def timed(*args, **named):
        begin = time.perf_counter()
        run(*args, **named)
        calls.append(time.perf_counter() - begin)

    Worker.run = timed
    if ring_allreduce.run("a2a3sim", [0, 1], rounds=10) != 0:
        sys.exit("the driver's result is wrong")
    sys.stdout.write(json.dumps({"calls": calls, "torch": of_torch}) + "\n")


def in_cpp(command):
    words = [command, "bench", "allreduce", "-n", "2", "--bytes", ",".join(map(str, SIZES))]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    rows = re.findall(r"^allreduce +2 +(\d+) +\S+ +([\d.]+) ", text, re.M)  # median, microseconds
    return {int(size): float(median) * 1e-6 for size, median in rows}


def import_time():
    """Seconds, in a new interpreter; the median."""
    text = "import time; begin = time.perf_counter(); import peal; print(time.perf_counter() - begin)"
    words = [sys.executable, "-c", text]
    runs = [subprocess.run(words, capture_output=True, text=True, check=True).stdout for _ in range(IMPORTS)]
    return statistics.median(map(float, runs))


def main(command):
    cpp, ours, theirs = in_cpp(command), with_peal(), with_mpi4py()
    print(f"{'bytes':>8} {'C++ us':>9} {'Python us':>10} {'mpi4py us':>10} {'added us':>9} {'ratio':>6}")
    exceeded = False
    for size in SIZES:
        added, ratio = (ours[size] - cpp[size]) * 1e6, ours[size] / theirs[size]
        exceeded |= ratio > MOST_RATIO or (size == 8 and added > MOST_ADDED)
        print(f"{size:8} {cpp[size] * 1e6:9.2f} {ours[size] * 1e6:10.2f} {theirs[size] * 1e6:10.2f} "
              f"{added:9.2f} {ratio:6.2f}")
    imported = import_time()
    exceeded |= imported > MOST_IMPORT
    print(f"import peal: {imported * 1e3:.1f} ms")
    (first, second, *others), whole = with_driver(command)
    exceeded |= max(second, *others) > MOST_DRIVER_CALL or whole > MOST_DRIVER
    print(f"driver: first call {first * 1e3:.1f} ms, second {second * 1e3:.2f}, then at most "
          f"{max(others) * 1e3:.2f}; {whole:.2f} s in all beside torch")
    return 1 if exceeded else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["rank"]:
        as_mpi_rank()
    elif sys.argv[1:] == ["driver"]:
        as_driver()
    else:
        sys.exit(main(sys.argv[1]))
