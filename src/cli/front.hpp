// SPDX-License-Identifier: Apache-2.0
// A launcher as two processes, each of which cleans up when the other is killed: the front, which
// is what a user started, and behind it the process that looks after the ranks.
#pragma once

#include <functional>

namespace peal::cli {

// Runs `body` in a child process and returns its status in both; 128 + the number if a signal ended
// it. `body` gets a pidfd of the front. Signals are handed on. When the child is gone, so are all
// processes below it. What `body` throws is thrown in the child. Throws Error(resource).
int run_behind_front(const std::function<int(int front)>& body);

}  // namespace peal::cli
