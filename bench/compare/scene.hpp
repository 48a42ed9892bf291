// SPDX-License-Identifier: Apache-2.0
// Nothing is left behind: whatever happens to the run, its processes end and its files go.
#pragma once

#include <functional>
#include <string>

namespace peal::bench {

// Runs `play` in a child process, with a fresh directory, in memory if the system has one and all
// ranks are on this host. When it
// ends, by itself or by a signal to either process, every descendant is killed and the directory is
// removed. Returns the exit status of `play`, or 128 + the signal.
int on_scene(bool on_hosts, const std::function<int(const std::string& directory)>& play);

}  // namespace peal::bench
