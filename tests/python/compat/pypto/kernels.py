# SPDX-License-Identifier: Apache-2.0
"""Kernels of the supported kind, each with what it computes, what is proved of that, and three ways to get it wrong.

A mutant is a line, what it is replaced with, and a line that the counterexample must name. Results are filled with FILL before
a call: what no kernel writes stays.
"""

import numpy as np

FILL = 77

RING_ALL = """
for peer in pl.range(nr):
    if peer != me:
        pld.system.notify(sig, peer=peer, offsets=[me, 0], value=1, op=pld.NotifyOp.AtomicAdd)
for peer in pl.range(nr):
    if peer != me:
        pld.system.wait(sig, offsets=[peer, 0], expected=1, cmp=pld.WaitCmp.Ge)
"""
STAGE = """
data = pl.store(pl.load(x, [0, 0], [1, n]), [0, 0], data)
"""
RING_MUTANTS = [
    ("pld.system.wait(sig, offsets=[peer, 0], expected=1", "pld.system.wait(sig, offsets=[peer, 0], expected=2", "deadlock", "expected=2"),
    ("offsets=[me, 0], value=1", "offsets=[peer, 0], value=1", "deadlock", "system.wait"),
]


class Kernel:
    def __init__(self, body, golden, mutants, ranks=(1, 2, 3, 4), meaning=None, **frame):
        self.body, self.golden, self.mutants, self.ranks, self.frame = body, golden, mutants, ranks, frame
        self.meaning = meaning


def everybody(xs, row):
    """The same result on every rank."""
    return np.broadcast_to(row, (len(xs), *np.shape(row)))


def cells_of(xs):
    ys = np.full_like(xs, FILL)
    ys[:, 0, 0] = np.roll(np.arange(len(xs)), 1) + 5
    ys[:, 0, 1] = ys[:, 0, 0] - 2
    return ys


def counts_of(xs):
    ys = np.full((len(xs), 2, 1), FILL, xs.dtype)
    ys[0, :, 0] = len(xs), len(xs) * (len(xs) + 1) // 2
    return ys


def shifted_region(xs):
    ys = np.zeros_like(xs)  # what the window held where nobody put anything
    ys[:, 1:3, 2:5] = np.roll(xs, 1, axis=0)[:, 2:4, 0:3]
    return ys


def got_region(xs):
    ys = np.full_like(xs, FILL)
    ys[:, 0, 1:3] = np.roll(xs, -1, axis=0)[:, 1, 0:2]
    return ys


def scalars_of(xs):
    ys = np.full_like(xs, FILL)
    ys[:, 0, 0] = np.arange(len(xs)) * 10 + 7
    ys[:, 0, 1] = xs[:, 0, 2]
    return ys


def boxes(xs):
    ys = np.full_like(xs, FILL)
    ys[:, 2:4, 1:4] = np.roll(xs, -1, axis=0)[:, 1:3, 2:5] + xs[:, 1:3, 2:5]
    return ys


def pushed_boxes(xs):
    """Every rank adds a box into everybody's window, which began as zeros."""
    ys = np.zeros_like(xs)
    ys[:, 1:3, 4:7] = xs[:, 0:2, 0:3].sum(0)
    return ys


def column_of(xs):
    ys = np.full_like(xs, FILL)
    ys[:, :, 5] = np.roll(xs, 1, axis=0)[:, :, 2]
    return ys


def rewritten(xs):
    ys = np.full_like(xs, FILL)
    ys[:, 0, 0] = np.roll(np.arange(len(xs)), 1) + 5
    ys[:, 0, 1], ys[:, 0, 2] = 3, 0
    return ys


KERNELS = {
    "mesh_sum": Kernel(
        STAGE
        + RING_ALL
        + """
acc = pl.load(data, [0, 0], [1, n])
for peer in pl.range(nr):
    if peer != me:
        t = pld.tile.remote_load(data, peer=peer, offsets=[0, 0], shape=[1, n])
        acc = pl.add(acc, t)
y = pl.store(acc, [0, 0], y)
return y
""",
        lambda xs: everybody(xs, xs.sum(0)),
        [*RING_MUTANTS, ("pld.system.wait(sig, offsets=[peer, 0], expected=1, cmp=pld.WaitCmp.Ge)", "pass", "data_race", "remote_load")],
        meaning="ys is the allreduce (sum) of xs",
    ),
    "broadcast_by_root": Kernel(
        """
root = 0
if me == root:
    mine = pl.load(x, [0, 0], [1, n])
    for peer in pl.range(nr):
        pld.tile.remote_store(mine, data, peer, [0, 0])
        pld.system.notify(sig, peer, [0, 0], 1, op=pld.NotifyOp.Set)
pld.system.wait(sig, [0, 0], 1, cmp=pld.WaitCmp.Ge)
return pl.store(pl.load(data, [0, 0], [1, n]), [0, 0], y)
""",
        lambda xs: everybody(xs, xs[0]),
        [
            ("pld.system.wait(sig, [0, 0], 1", "pld.system.wait(sig, [0, 0], 0", "data_race", "remote_store"),
            ("[0, 0], 1, op=pld.NotifyOp.Set", "[nr - 1, 0], 1, op=pld.NotifyOp.Set", "deadlock", "system.wait"),
            ("if me == root:", "if me != root:", None, "remote_store"),
        ],
        meaning="ys is the broadcast (root 0) of xs",
    ),
    "count_at_root": Kernel(
        """
pld.tensor.put(data, 0, x, atomic=pld.AtomicType.Add)
pld.system.notify(sig, 0, [0, 0], 1, op=pld.NotifyOp.AtomicAdd)
if me == 0:
    nranks = pld.nranks(pld.get_comm_ctx(data))
    pld.system.wait(sig, [0, 0], nranks, cmp=pld.WaitCmp.Ge)
    y = pl.store(pl.load(data, [0, 0], [16, 16]), [0, 0], y)
    return y
return y
""",
        lambda xs: np.concatenate([xs.sum(0)[None], np.full_like(xs[1:], FILL)]),
        [
            ("[0, 0], nranks, cmp", "[0, 0], nranks - 1, cmp", "data_race", "pl.load(data"),
            ("pld.tensor.put(data, 0, x, atomic=pld.AtomicType.Add)", "pld.tensor.put(data, 0, x)", "data_race", "tensor.put"),
            ("[0, 0], nranks, cmp", "[0, 0], nranks + 1, cmp", "deadlock", "nranks + 1"),
        ],
        x="16, 16",
        y="16, 16",
        data="16, 16",
        dtype="INT32",
        meaning="ys is the reduce (sum, root 0) of xs",
    ),
    "all_to_all_by_put": Kernel(
        """
for peer in pl.range(nr):
    pld.tensor.put(data, peer, x, [me, 0], [peer, 0], [1, n])
"""
        + RING_ALL
        + """
for r in pl.range(nr):
    y = pl.store(pl.load(data, [r, 0], [1, n]), [r, 0], y)
return y
""",
        lambda xs: xs.transpose(1, 0, 2),
        [*RING_MUTANTS, ("data, peer, x, [me, 0], [peer, 0]", "data, peer, x, [0, 0], [peer, 0]", "data_race", "tensor.put")],
        x="nr, n",
        y="nr, n",
        data="nr, n",
        meaning="ys is the all_to_all of xs",
    ),
    "put_region": Kernel(
        """
right = (me + 1) % nr
pld.tensor.put(
    data, peer=right, src=x, dst_offsets=[1, 2], src_offsets=[2, 0], shape=[2, 3], chunk_rows=1, chunk_cols=2, pipeline=True
)
pld.system.notify(sig, peer=right, offsets=[me, 0], value=1, op=pld.NotifyOp.AtomicAdd)
left = (me + nr - 1) % nr
pld.system.wait(sig, offsets=[left, 0], expected=1, cmp=pld.WaitCmp.Ge)
y = pl.store(pl.load(data, [0, 0], [4, n]), [0, 0], y)
return y
""",
        shifted_region,
        [
            ("offsets=[left, 0], expected=1", "offsets=[left, 0], expected=0", "data_race", "pl.load(data"),
            ("peer=right, offsets=[me, 0]", "peer=me, offsets=[me, 0]", "deadlock", "system.wait"),
            ("left = (me + nr - 1) % nr", "left = me", None, "system.wait"),
        ],
        x="4, n",
        y="4, n",
        data="4, n",
    ),
    "get_pair": Kernel(
        """
data = pl.store(pl.load(x, [0, 0], [2, n]), [0, 0], data)
other = (me + 1) % 2
pld.system.notify(sig, other, [me, 0], 1, op=pld.NotifyOp.AtomicAdd)
pld.system.wait(sig, [other, 0], 1, cmp=pld.WaitCmp.Ge)
pld.tensor.get(y, other, data, [0, 1], [1, 0], [1, 2])
return y
""",
        got_region,
        [
            ("pld.system.wait(sig, [other, 0], 1", "pld.system.wait(sig, [other, 0], 0", "data_race", "tensor.get"),
            ("[me, 0], 1, op", "[other, 0], 1, op", "deadlock", "system.wait"),
            ("pld.system.notify(sig, other, [me, 0], 1", "pld.system.notify(sig, me, [me, 0], 1", "deadlock", "system.wait"),
        ],
        ranks=(2,),
        x="2, n",
        y="2, n",
        data="2, n",
    ),
    "computed_push": Kernel(
        """
both = pl.tensor.add(x, x)
right = (me + 1) % nr
pld.tensor.remote_store(both, data, right, [0, 0])
pld.system.notify(sig, right, [0, 0], 1, op=pld.NotifyOp.Set)
pld.system.wait(sig, [0, 0], 1, cmp=pld.WaitCmp.Ge)
return pl.store(pl.load(data, [0, 0], [1, n]), [0, 0], y)
""",
        lambda xs: 2 * np.roll(xs, 1, axis=0),
        [
            ("pld.system.wait(sig, [0, 0], 1", "pld.system.wait(sig, [0, 0], 0", "data_race", "tensor.remote_store"),
            ("data, right, [0, 0]", "data, 0, [0, 0]", "data_race", "tensor.remote_store"),
            ("sig, right, [0, 0]", "sig, me, [0, 0]", "data_race", "tensor.remote_store"),
        ],
    ),
    "offset_push": Kernel(
        """
t = pl.load(x, [0, 0], [1, n])
for peer in pl.range(nr):
    pld.tile.remote_store(t, data, peer=peer, offsets=[0, me * n], atomic=pld.AtomicType.None_)
"""
        + RING_ALL
        + """
whole = pl.load(data, [0, 0], [1, nr * n])
y = pl.store(whole, [0, 0], y)
return y
""",
        lambda xs: everybody(xs, xs.reshape(1, -1)),
        [*RING_MUTANTS, ("offsets=[0, me * n]", "offsets=[0, 0]", "data_race", "remote_store")],
        y="1, nr * n",
        data="1, nr * n",
        meaning="ys is the allgather of xs",
    ),
    "chunks": Kernel(
        STAGE
        + RING_ALL
        + """
right = (me + 1) % nr
for off in pl.range(0, n, 5):
    count = pl.min(5, n - off)
    t = pld.tile.remote_load(data, right, [0, off], [1, 8], valid_shape=[1, count])
    y = pl.store(t, [0, off], y)
return y
""",
        lambda xs: np.roll(xs, -1, axis=0),
        [*RING_MUTANTS, ("pld.system.wait(sig, offsets=[peer, 0], expected=1", "pld.system.wait(sig, offsets=[peer, 0], expected=0", "data_race", "remote_load")],
    ),
    "carried": Kernel(
        STAGE
        + RING_ALL
        + """
own = pl.load(data, [0, 0], [1, n])
for i, (acc,) in pl.range(1, nr, init_values=(own,)):
    peer = (me + i) % nr
    t = pld.tile.remote_load(data, peer, [0, 0], [1, n])
    acc = pl.add(acc, t)
    total = pl.yield_(acc)
for i, (out,) in pl.range(1, init_values=(y,)):
    out = pl.store(total, [0, 0], out)
    done = pl.yield_(out)
return done
""",
        lambda xs: everybody(xs, xs.sum(0)),
        [*RING_MUTANTS, ("pld.system.wait(sig, offsets=[peer, 0], expected=1", "pld.system.wait(sig, offsets=[peer, 0], expected=0", "data_race", "remote_load")],
        meaning="ys is the allreduce (sum) of xs",
    ),
    "scalars": Kernel(
        """
tag: pl.Scalar[pl.INT32] = me * 10 + 7
for _ in pl.unroll(4):
    pld.system.notify(sig, (me + 1) % nr, [0, 0], pl.const(1, pl.INT32), op=pld.NotifyOp.AtomicAdd)
pld.system.wait(sig, [0, 0], 4, cmp=pld.WaitCmp.Ge)
pl.write(data, [0, 1], tag)
v = pl.read(data, [0, 1])
pl.write(y, [0, 0], v)
pl.write(y, [0, 1], pl.read(x, [0, 2]))
return y
""",
        scalars_of,
        [
            ("sig, (me + 1) % nr, [0, 0]", "sig, (me + 1) % nr, [nr - 1, 0]", "deadlock", "4, cmp"),
            ("[0, 0], 4, cmp", "[0, 0], 5, cmp", "deadlock", "5, cmp"),
            ("op=pld.NotifyOp.AtomicAdd", "op=pld.NotifyOp.Set", "deadlock", "4, cmp"),
        ],
        dtype="INT32",
    ),
    "cells_read": Kernel(
        """
right = (me + 1) % nr
left = (me + nr - 1) % nr
pld.system.notify(sig, right, [me, 0], me + 5, op=pld.NotifyOp.Set)
pld.system.wait(sig, [left, 0], 1, cmp=pld.WaitCmp.Ge)
pl.write(y, [0, 0], pl.read(sig, [left, 0]))
pld.system.notify(sig, me, [left, 0], -2, op=pld.NotifyOp.AtomicAdd)
pl.write(y, [0, 1], pl.read(sig, [left, 0]))
return y
""",
        cells_of,
        [
            ("sig, [left, 0], 1, cmp", "sig, [left, 0], 0, cmp", "data_race", "[0, 0], pl.read(sig"),
            ("right, [me, 0], me + 5", "right, [right, 0], me + 5", "deadlock", "system.wait"),
            ("sig, me, [left, 0], -2", "sig, right, [me, 0], -2", "data_race", "[me, 0], -2"),
        ],
        dtype="INT32",
    ),
    "counts_read": Kernel(
        """
pld.system.notify(sig, 0, [1, 0], me + 1, op=pld.NotifyOp.AtomicAdd)
pld.system.notify(sig, 0, [0, 0], 1, op=pld.NotifyOp.AtomicAdd)
if me == 0:
    pld.system.wait(sig, [0, 0], nr, cmp=pld.WaitCmp.Ge)
    t = pl.load(sig, [0, 0], [2, 1])
    y = pl.store(t, [0, 0], y)
return y
""",
        counts_of,
        [
            ("[0, 0], nr, cmp", "[0, 0], nr - 1, cmp", "data_race", "pl.load(sig"),
            ("[0, 0], nr, cmp", "[0, 0], nr + 1, cmp", "deadlock", "nr + 1, cmp"),
            ("[1, 0], me + 1, op=pld.NotifyOp.AtomicAdd", "[1, 0], me + 1, op=pld.NotifyOp.Set", "data_race", "me + 1"),
        ],
        y="2, 1",
        sig="nr + 1, 1",
        dtype="INT32",
    ),
    "boxes": Kernel(
        """
data = pl.store(pl.load(x, [0, 0], [4, n]), [0, 0], data)
"""
        + RING_ALL
        + """
theirs = pld.tile.remote_load(data, (me + 1) % nr, [1, 2], [2, 3])
mine = pl.load(x, [1, 2], [2, 3])
y = pl.store(pl.add(theirs, mine), [2, 1], y)
return y
""",
        boxes,
        [*RING_MUTANTS, ("sig, offsets=[peer, 0], expected=1", "sig, offsets=[peer, 0], expected=0", "data_race", "remote_load")],
        x="4, n",
        y="4, n",
        data="4, n",
    ),
    "pushed_boxes": Kernel(
        """
box = pl.load(x, [0, 0], [2, 3])
for peer in pl.range(nr):
    pld.tile.remote_store(box, data, peer, [1, 4], atomic=pld.AtomicType.Add)
"""
        + RING_ALL
        + """
return pl.store(pl.load(data, [0, 0], [4, n]), [0, 0], y)
""",
        pushed_boxes,
        [*RING_MUTANTS, ("[1, 4], atomic=pld.AtomicType.Add", "[1, 4]", "data_race", "remote_store")],
        x="4, n",
        y="4, n",
        data="4, n",
    ),
    "columns": Kernel(
        """
column = pl.load(x, [0, 2], [8, 1], valid_shape=[4, 1])
pld.tile.remote_store(column, data, (me + 1) % nr, [0, 5])
pld.system.notify(sig, (me + 1) % nr, [0, 0], 1, op=pld.NotifyOp.AtomicAdd)
pld.system.wait(sig, [0, 0], 1, cmp=pld.WaitCmp.Ge)
got = pl.load(data, [0, 5], [16, 1], valid_shape=[4, 1])
return pl.store(got, [0, 5], y)
""",
        column_of,
        [
            ("[0, 0], 1, cmp", "[0, 0], 0, cmp", "data_race", "got = pl.load"),
            ("[0, 0], 1, cmp", "[0, 0], 2, cmp", "deadlock", "2, cmp"),
            ("sig, (me + 1) % nr, [0, 0]", "sig, me, [0, 0]", "data_race", "remote_store"),
        ],
        x="4, n",
        y="4, n",
        data="4, n",
    ),
    "chunked_columns": Kernel(
        """
data = pl.store(pl.load(x, [0, 0], [4, n]), [0, 0], data)
"""
        + RING_ALL
        + """
for off in pl.range(0, n, 5):
    cols = pl.min(5, n - off)
    acc = pl.load(data, [0, off], [4, 8], valid_shape=[4, cols])
    for peer in pl.range(nr):
        if peer != me:
            acc = pl.add(acc, pld.tile.remote_load(data, peer, [0, off], [4, 8], valid_shape=[4, cols]))
    y = pl.store(acc, [0, off], y)
return y
""",
        lambda xs: everybody(xs, xs.sum(0)),
        [*RING_MUTANTS, ("sig, offsets=[peer, 0], expected=1", "sig, offsets=[peer, 0], expected=0", "data_race", "remote_load")],
        meaning="ys is the allreduce (sum) of xs",
        x="4, n",
        y="4, n",
        data="4, n",
    ),
    "put_from_window": Kernel(
        """
pl.store(pl.load(x, [0, 0], [1, n]), [0, 0], data)
pld.tensor.put(data, peer=(me + 1) % nr, src=data, dst_offsets=[1, 0], src_offsets=[0, 0], shape=[1, n], chunk_cols=4)
pld.system.notify(sig, peer=(me + 1) % nr, offsets=[0, 0], value=1, op=pld.NotifyOp.Set)
pld.system.wait(sig, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Ge)
return pl.store(pl.load(data, [1, 0], [1, n]), [0, 0], y)
""",
        lambda xs: np.roll(xs, 1, axis=0),
        [
            ("expected=1", "expected=0", "data_race", "tensor.put"),
            ("peer=(me + 1) % nr, offsets=[0, 0]", "peer=(me + 1) % nr, offsets=[nr - 1, 0]", "deadlock", "system.wait"),
            ("dst_offsets=[1, 0]", "dst_offsets=[0, 0]", "data_race", "tensor.put"),
        ],
        data="2, n",
    ),
    "bits_pushed": Kernel(
        """
right = (me + 1) % nr
pld.tile.remote_store(pl.load(x, [0, 0], [1, n]), data, right, [0, 0])
pld.system.notify(sig, right, [0, 0], 1, op=pld.NotifyOp.Set)
pld.system.wait(sig, [0, 0], 1, cmp=pld.WaitCmp.Ge)
return pl.store(pl.load(data, [0, 0], [1, n]), [0, 0], y)
""",
        lambda xs: np.roll(xs, 1, axis=0),
        [
            ("pld.system.wait(sig, [0, 0], 1", "pld.system.wait(sig, [0, 0], 0", "data_race", "remote_store"),
            ("data, right, [0, 0]", "data, 0, [0, 0]", "data_race", "remote_store"),
            ("sig, right, [0, 0]", "sig, me, [0, 0]", "data_race", "remote_store"),
        ],
        dtype="BF16",
    ),
    "get_whole": Kernel(
        STAGE
        + RING_ALL
        + """
pld.tensor.get(y, (me + 1) % nr, data)
return y
""",
        lambda xs: np.roll(xs, -1, axis=0),
        [*RING_MUTANTS, ("sig, offsets=[peer, 0], expected=1", "sig, offsets=[peer, 0], expected=0", "data_race", "tensor.get")],
    ),
    "cells_written": Kernel(
        """
right = (me + 1) % nr
left = (me + nr - 1) % nr
pld.system.notify(sig, right, [me, 0], me + 5, op=pld.NotifyOp.Set)
pld.system.wait(sig, [left, 0], 1, cmp=pld.WaitCmp.Ge)
pl.write(y, [0, 0], pl.read(sig, [left, 0]))
pl.write(sig, [left, 0], 3)
pl.write(y, [0, 1], pl.read(sig, [left, 0]))
pl.store(pl.tile.full([nr, 1], pl.INT32, 0), [0, 0], sig)
pl.write(y, [0, 2], pl.read(sig, [left, 0]))
pld.system.wait(sig, [left, 0], 0, cmp=pld.WaitCmp.Eq)
return y
""",
        rewritten,
        [
            ("sig, [left, 0], 1, cmp", "sig, [left, 0], 0, cmp", "data_race", "[0, 0], pl.read(sig"),
            ("right, [me, 0], me + 5", "right, [right, 0], me + 5", "deadlock", "1, cmp"),
            ("sig, [left, 0], 0, cmp=pld.WaitCmp.Eq", "sig, [left, 0], 3, cmp=pld.WaitCmp.Eq", "deadlock", "3, cmp"),
        ],
        dtype="INT32",
    ),
    "credits": Kernel(
        """
right = (me + 1) % nr
left = (me + nr - 1) % nr
for i in pl.range(3):
    pld.system.notify(sig, right, [0, 0], 1, op=pld.NotifyOp.AtomicAdd)
    pld.system.wait(sig, [0, 0], 1, cmp=pld.WaitCmp.Ge)
    pld.system.notify(sig, me, [0, 0], -1, op=pld.NotifyOp.AtomicAdd)
return pl.store(pl.load(x, [0, 0], [1, n]), [0, 0], y)
""",
        lambda xs: xs,
        [
            ("[0, 0], -1, op", "[0, 0], -2, op", "deadlock", "1, cmp"),
            ("[0, 0], 1, cmp", "[0, 0], 4, cmp", "deadlock", "4, cmp"),
            ("sig, right, [0, 0], 1", "sig, right, [nr - 1, 0], 1", "deadlock", "1, cmp"),
        ],
    ),
}
