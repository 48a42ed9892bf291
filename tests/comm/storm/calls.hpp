// SPDX-License-Identifier: Apache-2.0
// What a rank does in a trial.
#pragma once

#include <atomic>
#include <cstdint>

#include "comm/storm/trial.hpp"
#include "peal/communicator.hpp"
#include "peal/limits.hpp"

namespace peal::storm {

// What a rank leaves for whoever watches, in memory that both share.
struct Note {
    enum State : std::uint32_t { absent, calling, finished, told };
    std::atomic<std::uint32_t> state = absent;
    std::atomic<std::int32_t> pid = 0;
    std::atomic<std::int32_t> call = -1;  // the last that was begun
    char message[400] = {};               // of the error that it was told
    char wrong[200] = {};                 // the first result that was not right; "": none
};

// Makes all calls of the trial, and checks each result.
void call_all(Communicator& comm, const Trial& trial, Note& note);

}  // namespace peal::storm
