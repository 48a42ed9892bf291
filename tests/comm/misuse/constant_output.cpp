// SPDX-License-Identifier: Apache-2.0
// error: the result is written to this buffer, so it must not be const
#include "peal/communicator.hpp"

void wrong(peal::Communicator& comm, const std::vector<float>& in, const std::vector<float>& out) {
    peal::Prepared prepared = comm.prepare_gather(in, out, 2);
}
