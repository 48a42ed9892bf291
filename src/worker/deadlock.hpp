// SPDX-License-Identifier: Apache-2.0
// Whether all devices that have work wait in vain.
//
// Only devices change signals. Let every device that has a command be in a long wait
// (DeviceProgress::waits is odd), let none of these commands be cancelled, and let no wait pass
// with what its cell holds, in no lane. If then every `waits` is still the number it was, no device
// has done anything between the two looks: what the cells held is what they hold, so no wait can
// pass, now or ever, unless the host hands out more. A ring that comes after the first look would
// need a device that was not waiting.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "worker/dispatcher.hpp"

namespace peal::worker {

// A device that has work, and the waits that its lanes stand at.
struct Stuck {
    int device = 0;
    std::uint64_t waits = 0;
    std::vector<std::size_t> instructions;  // by lane; its end if it is done
};

// All devices that have work, if they wait in vain; else nothing.
std::vector<Stuck> find_deadlock(const Dispatcher& dispatcher);

// Who waits for what. `unstarted` are tasks that no device has been given.
//
//   deadlock: no device can go on
//     rank 0  task 1 'left'  instruction 5  wait sig[1] >= 1   (mesh.peal:6: "wait ...")
//             sees 0; still to ring it: task 2 'right' on rank 1 at instruction 7 (now at 3)
//     rank 1  ...
//     rank 2  idle
std::string deadlock_report(const Dispatcher& dispatcher, const std::vector<Stuck>& stuck,
                            const std::vector<TaskPtr>& unstarted);

// `task 3 'sum', instruction 5  wait sig[1] >= 2   (mesh.peal:6: "wait sig[peer] >= 1")`, of the
// task that the device has at hand; empty if it has none.
std::string where_it_stands(const Dispatcher& dispatcher, int device);

}  // namespace peal::worker
