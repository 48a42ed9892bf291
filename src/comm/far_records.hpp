// SPDX-License-Identifier: Apache-2.0
// What members on other hosts have written down of themselves, as this rank last saw it: they are
// asked now and then by who waits for long, and nobody waits for an answer. Each is asked for
// itself: one that computes, and so does not answer, hides nobody else.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "comm/call_log.hpp"
#include "comm/common_memory.hpp"
#include "hosts/job.hpp"

namespace peal::comm {

class FarRecords {
public:
    // `mirrors`: by member; null if it is on this host.
    struct Mirror {
        const Member* member = nullptr;
        const CallLog* log = nullptr;
    };
    FarRecords(hosts::Job& job, std::vector<Mirror> mirrors);
    ~FarRecords();
    FarRecords(const FarRecords&) = delete;
    FarRecords& operator=(const FarRecords&) = delete;

    Member& member(int member) const;
    CallLog& log(int member) const;

    // Takes what has come, and asks those again.
    void refresh();
    // What was asked has come, or will not: of a member, of all.
    bool is_over(int member) const { return flights_[static_cast<std::size_t>(member)].is_over(); }
    bool is_over() const {
        return std::all_of(flights_.begin(), flights_.end(),
                           [](const hosts::Flight& flight) { return flight.is_over(); });
    }

private:
    struct Copies {
        alignas(Member) std::byte member[sizeof(Member)] = {};
        alignas(CallLog) std::byte log[sizeof(CallLog)] = {};
    };
    void ask(const std::vector<std::size_t>& members);

    hosts::Job& job_;
    const std::vector<Mirror> mirrors_;
    std::vector<hosts::Flight> flights_;  // by member
    std::vector<Copies> shown_;
    std::shared_ptr<std::vector<Copies>> coming_;  // perhaps after this is gone
};

}  // namespace peal::comm
