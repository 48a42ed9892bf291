// SPDX-License-Identifier: Apache-2.0
// error: a message is sent from and received in a contiguous range: give window.span()
#include "peal/communicator.hpp"

void wrong(peal::Communicator& comm, peal::Window<float>& window, std::vector<float>& out) {
    peal::Pending pending = comm.start_exchange({{1, window, out}});
}
