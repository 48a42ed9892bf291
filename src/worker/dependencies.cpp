// SPDX-License-Identifier: Apache-2.0
#include "worker/dependencies.hpp"

#include <algorithm>
#include <iterator>

namespace peal::worker {

void Dependencies::add(const TaskPtr& task, const Access& access, const After& after) {
    if (access.begin == access.end) return;
    split_at(access.begin);
    split_at(access.end);
    if (access.writes) {
        add_write(task, access, after);
    } else if (access.reads) {
        add_read(task, access, after);
    }
}

// Afterwards no segment begins before `where` and ends behind it.
void Dependencies::split_at(const std::byte* where) {
    const auto next = segments_.lower_bound(where);
    if (next == segments_.begin()) return;
    Segment& before = std::prev(next)->second;
    if (before.end <= where) return;
    segments_.emplace_hint(next, where, before);
    before.end = where;
}

void Dependencies::add_write(const TaskPtr& task, const Access& access, const After& after) {
    const auto first = segments_.lower_bound(access.begin);
    auto last = first;
    for (; last != segments_.end() && last->first < access.end; ++last) {
        const Segment& segment = last->second;
        if (segment.writer) after(segment.writer, access.reads);
        for (const TaskPtr& reader : segment.readers) after(reader, false);
    }
    if (first == last || first->first != access.begin) {
        const auto next = segments_.erase(first, last);
        segments_.emplace_hint(next, access.begin, Segment{access.end, task, {}});
        return;
    }
    segments_.erase(std::next(first), last);  // most often there is nothing to erase
    first->second.end = access.end;
    first->second.writer = task;
    first->second.readers.clear();
}

void Dependencies::add_read(const TaskPtr& task, const Access& access, const After& after) {
    const std::byte* at = access.begin;
    auto segment = segments_.lower_bound(access.begin);
    while (at < access.end) {
        if (segment == segments_.end() || segment->first > at) {
            const std::byte* const end =
                segment == segments_.end() ? access.end : std::min(segment->first, access.end);
            segments_.emplace_hint(segment, at, Segment{end, nullptr, {task}});
            at = end;
            continue;
        }
        if (segment->second.writer) after(segment->second.writer, true);
        add_reader(segment->second, task);
        at = segment->second.end;
        ++segment;
    }
}

// Readers that are over hold nobody up. They are looked for when the list has grown.
void Dependencies::add_reader(Segment& segment, const TaskPtr& task) {
    std::vector<TaskPtr>& readers = segment.readers;
    if (readers.size() == readers.capacity()) {
        std::erase_if(readers, [](const TaskPtr& reader) { return reader->is_over(); });
    }
    readers.push_back(task);
}

void Dependencies::forget(const std::byte* begin, const std::byte* end) {
    if (begin == end) return;
    split_at(begin);
    split_at(end);
    segments_.erase(segments_.lower_bound(begin), segments_.lower_bound(end));
}

void Dependencies::prune(const std::function<bool(const TaskNode&)>& matters) {
    for (auto it = segments_.begin(); it != segments_.end();) {
        Segment& segment = it->second;
        std::erase_if(segment.readers, [&](const TaskPtr& task) { return !matters(*task); });
        if (segment.writer && !matters(*segment.writer)) segment.writer = nullptr;
        const bool is_empty = !segment.writer && segment.readers.empty();
        it = is_empty ? segments_.erase(it) : std::next(it);
    }
}

}  // namespace peal::worker
