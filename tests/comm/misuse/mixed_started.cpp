// SPDX-License-Identifier: Apache-2.0
// error: input and output must have the same element type; Peal converts nothing
#include "peal/communicator.hpp"

void wrong(peal::Communicator& comm, const std::vector<int>& in, std::vector<unsigned>& out) {
    peal::Pending pending = comm.start_reduce(in, out, peal::ReduceOp::max, 1);
}
