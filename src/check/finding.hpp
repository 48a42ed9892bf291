// SPDX-License-Identifier: Apache-2.0
// Something wrong that a run has met, before a schedule is made for it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "check/model.hpp"

namespace peal::checker {

struct Finding {
    ViolationKind kind = ViolationKind::data_race;
    std::vector<Event> events;  // the last of them shows it, or all are about to happen
    // For each event the range in question, as Step::range; fewer: none in particular.
    std::vector<std::int32_t> ranges;
    std::vector<Event> pending;  // it shows while these have not happened
    std::vector<Event> causes;   // it shows after these
    bool simultaneous = false;   // the events are enabled at the same time
    bool whole_run = false;      // it shows when nobody can go on
    bool is_unfenced = false;    // what the first event stored need not be visible to the second
    // Contents that are wrong: bytes [begin, end) of a region.
    RegionId region = kNone;
    std::uint64_t begin = 0, end = 0;
    std::string message;
    std::string memory;
    std::string found;
    std::string expected;
    std::vector<std::string> orders;
};

// Ops of one source line (or, without lines, of one index) are of one sort on all ranks and calls;
// so are findings of one kind about such ops.
std::uint64_t sort_of(const Model& model, Event event);
std::vector<std::uint64_t> sort_of(const Model& model, ViolationKind kind,
                                   const std::vector<Event>& events);

// Collects findings, a few of each sort: what goes wrong between two ranks often goes wrong between
// all of them.
class Findings {
public:
    explicit Findings(const Model& model) : model_(model) {}

    bool empty() const { return list_.empty(); }
    std::vector<Finding>& list() { return list_; }

    // Whether one more finding about these events is worth its text.
    bool wants(ViolationKind kind, const std::vector<Event>& events);
    void add(Finding finding) { list_.push_back(std::move(finding)); }

private:
    const Model& model_;
    std::vector<Finding> list_;
    std::map<std::vector<std::uint64_t>, int> counts_;
};

// "rank 1 (`wait sig[0] >= 1`, line 7, call 0)": who does what, in a message; the line is that of
// the range, if one is meant.
std::string text_of(const Model& model, Event event, std::int32_t range = -1);

// Of the ranges of the event's instruction the last that meets these bytes: what it writes, or else
// what it reads; -1 if there is none.
std::int32_t range_at(const Model& model, Event event, RegionId region, std::uint64_t begin,
                      std::uint64_t end);

}  // namespace peal::checker
