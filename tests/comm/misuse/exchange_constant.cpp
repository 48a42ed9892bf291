// SPDX-License-Identifier: Apache-2.0
// error: the result is written to this buffer, so it must not be const
#include "peal/communicator.hpp"

void wrong(peal::Communicator& comm, const std::vector<int>& in, const std::vector<int>& out) {
    comm.exchange({{1, in, out}});
}
