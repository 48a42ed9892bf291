// SPDX-License-Identifier: Apache-2.0
// error: input and output must have the same element type; Peal converts nothing
#include "peal/communicator.hpp"

void wrong(peal::Communicator& comm, const std::vector<float>& in, std::vector<double>& out) {
    comm.allreduce(in, out);
}
