// SPDX-License-Identifier: Apache-2.0
// error: a message is sent from and received in a contiguous range: give window.span()
#include "peal/communicator.hpp"

void wrong(peal::Communicator& comm, const peal::Window<float>& window) { comm.send(window, 1); }
