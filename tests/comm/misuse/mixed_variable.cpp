// SPDX-License-Identifier: Apache-2.0
// error: input and output must have the same element type; Peal converts nothing
#include "peal/communicator.hpp"

void wrong(peal::Communicator& comm, float mine, std::vector<double>& all) {
    comm.allgather(mine, all);
}
