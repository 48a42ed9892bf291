// SPDX-License-Identifier: Apache-2.0
// error: a buffer is a contiguous range (std::vector, std::span, std::array) of float, double,
// integers but not bool, peal::f16 or peal::bf16; one such variable; peal::Memory; or a
// peal::Window
#include "peal/communicator.hpp"

void wrong(peal::Communicator& comm, bool done) { comm.allreduce(done, peal::ReduceOp::max); }
