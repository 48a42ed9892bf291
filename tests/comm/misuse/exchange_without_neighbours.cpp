// SPDX-License-Identifier: Apache-2.0
// error: an exchange is with neighbours: {{rank, sent, received}, ...}
#include "peal/communicator.hpp"

void wrong(peal::Communicator& comm, const std::vector<int>& in, std::vector<int>& out) {
    comm.exchange(1, in, out);
}
