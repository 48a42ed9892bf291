// SPDX-License-Identifier: Apache-2.0
// error: a buffer is a contiguous range
#include "peal/communicator.hpp"

void wrong(peal::Communicator& comm, const std::vector<bool>& in, std::vector<int>& out) {
    comm.exchange({{1, out, out}, {2, in, out}});
}
