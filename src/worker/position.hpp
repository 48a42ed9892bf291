// SPDX-License-Identifier: Apache-2.0
// Where devices stand, in words.
#pragma once

#include <string>

#include "worker/dispatcher.hpp"

namespace peal::worker {

// "task 3 'sum', instruction 5: wait sig[1] >= 2   (mesh.peal:6: "wait sig[peer] >= 1")", of the
// task that the device has at hand; empty if it has none.
std::string where_it_stands(const Dispatcher& dispatcher, int device);

// An instruction with the values that this run's generations give it, and its source line.
std::string instruction_text(const TaskNode& task, const TaskMember& member,
                             std::size_t instruction);

// What a notify or wait means in this run.
std::int64_t value_in(const TaskMember& member, const Cell& cell, const Value& value);
std::byte* address_of(const Dispatcher& dispatcher, const TaskNode& task, const TaskMember& member,
                      const Cell& cell);

}  // namespace peal::worker
