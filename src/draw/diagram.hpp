// SPDX-License-Identifier: Apache-2.0
// A counterexample as a space-time diagram: one rail per rank, or per lane of a rank that has
// several, time downwards. It knows what is to be seen and in which row; pictures.hpp draws it.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "peal/check.hpp"

namespace peal::draw {

enum class EventKind : std::uint8_t {
    call,    // a call begins; only in diagrams of several calls
    caller,  // stages or consumes
    data,
    notify,
    wait,
    pipe,    // flags and barriers
    folded,  // several steps that are not shown
};

struct Event {
    EventKind kind = EventKind::data;
    std::size_t rail = 0;  // position in Diagram::rails
    std::size_t row = 0;
    std::string label;     // a few words
    std::string detail;    // the whole story; may be empty
    std::string where;     // "line 7"; empty if it is not known
    bool clash = false;    // one of the steps that break the rule
    bool blocked = false;  // a wait that does not pass
    bool related = false;  // it touches memory that a clash is about
};

// A notify and a wait that it let pass: positions in Diagram::events.
struct Arrow {
    std::size_t from = 0, to = 0;
};

// A rank, or one of its lanes. Those of a rank stand side by side.
struct Rail {
    std::int32_t rank = 0;
    std::int32_t lane = -1;  // -1: the rank has only one

    auto operator<=>(const Rail&) const = default;  // NOLINT(modernize-use-nullptr)
};

// Who takes part in steps that are not shown.
struct Meanwhile {
    Rail rail;
    std::size_t steps = 0;
};

struct Diagram {
    std::string title;                 // "data race: data@0[0..64)"
    std::string message;               // Violation::message
    std::vector<Rail> rails;           // who takes part
    std::vector<Rail> hidden;          // take part, and yet are not drawn
    std::vector<Meanwhile> meanwhile;  // take part, and are told of in a line each
    std::vector<std::int32_t> idle;    // the other ranks
    std::vector<Event> events;         // in the order in which they happen
    std::vector<Arrow> arrows;
    std::size_t rows = 0;
};

// What is one step: an instruction of a plan, or all that an operation of the kernel consists of,
// as a TPUT does of loads, flags and stores. A step that clashes is an instruction always.
enum class Grain : std::uint8_t { operation, instruction };

Diagram diagram_of(const Violation& violation, const std::vector<CheckStage>& stages,
                   Grain grain = Grain::operation);

// "rank 2 meanwhile: 14 steps", "ranks 1..6 meanwhile: 9 steps each"
std::vector<std::string> meanwhile_lines(const Diagram& diagram);

// "rank 1", "ranks 1, 4..7"
std::string ranks_text(const std::vector<std::int32_t>& ranks);
// The same of rails: "rank 0, lane 1"; "ranks 1, 2; rank 3, lanes 1, 4..7".
std::string rails_text(const std::vector<Rail>& rails);

// Kept are what clashes, what touches the same memory, and the signals between the ranks that
// clash. Other ranks become a line each, "rank 2 meanwhile: 14 steps", and other steps of a rank
// one event, "14 steps". A diagram of few events stays as it is.
Diagram folded(const Diagram& diagram);

}  // namespace peal::draw
