# SPDX-License-Identifier: Apache-2.0
"""A communicator on tensors of torch, where they are: `make test-torch` runs this."""

import pytest
import torch

import peal

TYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int32, torch.int64, torch.uint8]


@pytest.mark.parametrize("dtype", TYPES)
def test_calls_work_on_the_memory_of_tensors(dtype):
    def body(comm):
        me, count = comm.rank, comm.nranks
        tensor = torch.arange(4).to(dtype) + me
        place = tensor.data_ptr()
        comm.allreduce(tensor)
        expected = (count * torch.arange(4) + count * (count - 1) // 2).to(dtype)
        assert (torch.equal(tensor, expected), tensor.data_ptr(), tensor.dtype) == (True, place, dtype)
        comm.allreduce(tensor, op="max")
        assert torch.equal(tensor, expected)
        rows = torch.zeros((count, 2), dtype=dtype)
        comm.allgather(torch.full((2,), me + 1).to(dtype), rows)
        assert torch.equal(rows, (torch.arange(count) + 1).to(dtype).reshape(count, 1).expand(count, 2))
        comm.broadcast(rows[me], root=0)  # a part of a tensor, in its memory
        assert rows[me].tolist() == [1, 1]
        pending = comm.start_allreduce(tensor)
        pending.wait()
        assert torch.equal(tensor, (count * expected.double()).to(dtype))

    peal.spawn(3, body)


def test_messages_and_windows():
    def body(comm):
        right, left = (comm.rank + 1) % comm.nranks, (comm.rank - 1) % comm.nranks
        sent, received = torch.full((2, 3), float(comm.rank)).bfloat16(), torch.zeros((2, 3), dtype=torch.bfloat16)
        comm.sendrecv(sent, right, received, left)
        assert torch.equal(received, torch.full((2, 3), float(left)).bfloat16())
        window = comm.window(4, "f32")
        there = torch.from_dlpack(window.array)
        there[:] = torch.arange(4) + comm.rank
        comm.allreduce(window)
        assert torch.equal(there, 2 * torch.arange(4).float() + 1)

    peal.spawn(2, body)


def test_tensors_that_cannot_be():
    def body(comm):
        for tensor, words in [
            (torch.zeros((4, 4))[:, 0], r"found a Tensor of shape \[4\] with gaps$"),
            (torch.zeros(2, dtype=torch.complex64), "found elements of 64 bits of type code 5$"),
            (torch.zeros(2, requires_grad=True), r"found Tensor: Can't export tensors that require gradient, use tensor.detach\(\)$"),
        ]:
            with pytest.raises(peal.Error, match=f"^allreduce: buffer: expected a contiguous array of .*, {words}"):
                comm.allreduce(tensor)

    peal.spawn(1, body)
