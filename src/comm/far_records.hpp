// SPDX-License-Identifier: Apache-2.0
// What members on other hosts have written down of themselves, as this rank last saw it: they are
// asked now and then by who waits for long, and nobody waits for an answer.
#pragma once

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

    // Takes what has come, and asks again.
    void refresh();
    // What was asked has come, or will not.
    bool is_over() const { return flight_.is_over(); }

private:
    struct Copies {
        alignas(Member) std::byte member[sizeof(Member)] = {};
        alignas(CallLog) std::byte log[sizeof(CallLog)] = {};
    };
    void ask();

    hosts::Job& job_;
    const std::vector<Mirror> mirrors_;
    hosts::Flight flight_;
    bool has_asked_ = false;
    std::vector<Copies> shown_;
    std::shared_ptr<std::vector<Copies>> coming_;  // perhaps after this is gone
};

}  // namespace peal::comm
