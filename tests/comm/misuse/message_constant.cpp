// SPDX-License-Identifier: Apache-2.0
// error: the result is written to this buffer, so it must not be const
#include "peal/communicator.hpp"

void wrong(peal::Communicator& comm, const std::vector<int>& x) {
    peal::Pending pending = comm.start_recv(x, 1);
}
