// SPDX-License-Identifier: Apache-2.0
// All calls of all ranks as lists of steps on numbered bytes, cells and flags: what the naive
// interpreter runs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "peal/check.hpp"

namespace peal::test {

// So many bytes of the state from `begin` on.
struct ByteRange {
    std::uint32_t begin = 0, length = 0;
};

struct NaiveAccess {
    enum class How : std::uint8_t { read, write, add, notify, put_line };
    How how = How::read;
    // A byte; or for the last two the cell, and of a line that is put back the line.
    std::uint32_t at = 0;
    std::uint32_t of = 0;  // the element type that is added; the cell whose line is put back
};

struct NaiveStep {
    enum class Kind : std::uint8_t {
        stages,
        consumes,
        data,
        notify,
        wait,
        set_flag,
        wait_flag,
        fence,
        evict,
        none
    };
    Kind kind = Kind::none;
    std::uint32_t number = 0;
    std::uint32_t call = 0;
    int rank = 0;
    std::size_t lane = 0;
    int order = 0;           // in the list of its rank
    bool drains = false;     // comes after everything before it, on all pipes of its lane
    bool is_caller = false;  // comes between everything before and behind it, in all lanes
    // When it is complete: of a fence the group, of work whether it is visible to the others only
    // after a fence (of all orders, or of one), or goes through the cache of the scalar unit.
    std::uint16_t group = 0;
    bool is_fenced = false, is_cached = false;
    ByteRange evicted;  // whole lines
    const Action* action = nullptr;
    ByteRange dst;
    std::vector<ByteRange> src;
    bool adds_to_window = false;
    std::uint32_t cell = 0;  // or flag
    std::int64_t value = 0;
    bool may_be_stale = false;
    std::vector<NaiveAccess> accesses;
};

// A lane's scalar unit, which issues its instructions, or a pipe beside it.
struct NaiveAgent {
    int rank = 0;
    std::size_t lane = 0;
    bool is_scalar = true;
    std::uint16_t group = 0;  // of the one deferred instruction that it carries out
    std::vector<NaiveStep> steps;
};

struct NaiveCell {
    bool is_narrow = false;  // i32
    bool is_awaited = false, is_added = false;
    bool has_drift = false;  // its waits and notifies grow apart from call to call
    std::int64_t expected_end = 0;
};

class NaiveProgram {
public:
    NaiveProgram(const std::vector<CheckStage>& stages, int calls, MemoryOrder order);

    std::vector<NaiveAgent> agents;
    std::vector<NaiveCell> cells;
    std::uint32_t flags = 0, bytes = 0, steps = 0;
    bool is_repeated = false;
    bool has_lanes = false;
    bool is_computable = true;  // on real bytes
    bool has_floats = false;
    bool has_uneven_flags = false;  // set more or less often than awaited

    const CheckStage& stage(std::uint32_t call) const { return stages_[call % stages_.size()]; }
    // Of an argument or window.
    std::uint32_t stage_count() const { return static_cast<std::uint32_t>(stages_.size()); }
    // The whole window of that name, on that rank.
    ByteRange window(std::uint32_t call, const std::string& name, int rank) const;
    ByteRange place(std::uint32_t call, std::uint16_t buffer, int rank, std::uint64_t offset,
                    std::uint64_t length) const;
    // Of the byte, within its buffer.
    std::uint32_t offset_of(std::uint32_t byte) const { return offsets_[byte]; }

private:
    using Flag = std::tuple<int, std::size_t, Pipe, Pipe, int>;
    // By lane and pipe; one more for each deferred instruction.
    using Units = std::map<std::pair<std::size_t, int>, NaiveAgent>;

    const std::string& memory(std::size_t stage, std::uint16_t buffer) const;
    void place_memory();
    void add_bytes(const std::string& name, int rank, std::uint64_t length);
    void add_rank(int rank);
    void add_call(int rank, std::uint32_t call, Units& units, int& order);
    NaiveStep step_of(const Instruction& instruction, int rank, std::size_t lane,
                      std::uint32_t call);
    void add_caller(NaiveStep& step, int rank, std::uint32_t call) const;
    void fill_data(NaiveStep& step);
    std::uint64_t offset_in(const NaiveStep& step, const Range& range) const;
    void find_elements();
    // At the start of that call.
    std::int64_t generation(const std::string& name, std::uint32_t call) const;
    std::uint32_t cell_of(std::uint32_t call, const Cell& cell);
    void find_stale_waits();
    void find_drift();

    const std::vector<CheckStage>& stages_;
    std::uint32_t calls_;
    MemoryOrder order_;
    std::map<std::pair<std::string, int>, ByteRange> places_;
    std::vector<std::uint32_t> offsets_;
    std::map<std::tuple<std::string, int, std::uint64_t>, std::uint32_t> cell_numbers_;
    std::vector<std::uint32_t> lines_;  // by cell
    std::map<std::tuple<std::string, int, std::uint64_t>, std::uint32_t> line_numbers_;
    std::map<Flag, std::uint32_t> flag_numbers_;
    std::map<Flag, int> flag_balance_;
};

}  // namespace peal::test
