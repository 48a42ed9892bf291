// SPDX-License-Identifier: Apache-2.0
// Who touched which bytes last: from that follows who must come first.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <vector>

#include "worker/task_node.hpp"

namespace peal::worker {

class Dependencies {
public:
    // Calls `after(earlier, carries_data)` for each task that the access comes after, then notes
    // the access as the task's. A task may be named several times, and may be over.
    using After = std::function<void(const TaskPtr& earlier, bool carries_data)>;
    void add(const TaskPtr& task, const Access& access, const After& after);

    // The bytes are new: nobody has touched them.
    void forget(const std::byte* begin, const std::byte* end);

    // Drops everything that no longer matters: tasks for which `matters` is false.
    void prune(const std::function<bool(const TaskNode&)>& matters);

    std::size_t segments() const { return segments_.size(); }

private:
    // Bytes [key, end) that the same tasks touched.
    struct Segment {
        const std::byte* end = nullptr;
        TaskPtr writer;                // the last; null: none
        std::vector<TaskPtr> readers;  // since then
    };
    using Segments = std::map<const std::byte*, Segment>;

    void split_at(const std::byte* where);
    void add_write(const TaskPtr& task, const Access& access, const After& after);
    void add_read(const TaskPtr& task, const Access& access, const After& after);
    static void add_reader(Segment& segment, const TaskPtr& task);

    Segments segments_;  // disjoint
};

}  // namespace peal::worker
