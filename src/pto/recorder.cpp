// SPDX-License-Identifier: Apache-2.0
#include "pto/recorder.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>

namespace peal::pto {
namespace {

namespace device = ::pto::trace;

bool is_alike(const device::MemoryOperand& a, device::MemoryOperand b) {
    b.address = a.address;
    return a == b;
}

// But for the value of a signal, and where memory is.
bool is_same(const device::Operation& a, const device::Operation& b) {
    return a.op == b.op && a.name == b.name && a.file == b.file && a.line == b.line &&
           std::equal(std::begin(a.tile), std::end(a.tile), b.tile) &&
           std::equal(std::begin(a.memory), std::end(a.memory), b.memory, is_alike) &&
           std::bit_cast<std::uint64_t>(a.scalar) == std::bit_cast<std::uint64_t>(b.scalar) &&
           a.cell == b.cell && a.compare == b.compare && a.pipe[0] == b.pipe[0] &&
           a.pipe[1] == b.pipe[1] && a.event == b.event;
}

std::string place_of(const device::Operation& operation) {
    return fmt::format("{}:{}", std::filesystem::path(operation.file).filename().string(),
                       operation.line);
}

}  // namespace

void Recorder::begin(std::int64_t generation) {
    progress_.generation = generation;
    progress_.operations = 0;
    progress_.began = ChildClock::now();
}

void Recorder::end() {
    if (progress_.operations < recorded_.size()) {
        const Recorded& next = recorded_[progress_.operations];
        refuse(next.operation, "in generation {} the kernel ends before it",
               progress_.generation.load());
    }
    ++traced_;
}

void Recorder::send(const ShimLaunch& launch) {
    progress_.began = ChildClock::now();
    settle_places();
    send_recording(launch);
}

void Recorder::add(const device::Operation& operation, const ShimLaunch& launch) {
    if (progress_.operations == run_.options.max_operations) {
        messenger_.end(Message::words,
                       fmt::format("the kernel issues more than {} instructions: does it end?",
                                   run_.options.max_operations));
    }
    if (operation.file != last_file_) {
        last_file_ = operation.file;
        file_number_ = number_of(operation.file);
        std::strncpy(progress_.file, operation.file, sizeof(progress_.file) - 1);
    }
    std::strncpy(progress_.name, operation.name, sizeof(progress_.name) - 1);
    progress_.line = operation.line;
    const std::uint64_t number = progress_.operations++;
    if (progress_.generation != 0) return compare(operation, number);
    recorded_.push_back({operation, file_number_, launch.number});
    if (operation.op == device::Op::test) {
        // There is no right answer; what was recorded so far says where it was asked.
        send_recording(launch);
        _exit(0);
    }
}

std::uint32_t Recorder::number_of(const std::string& file) {
    const auto [found, is_new] =
        numbers_.try_emplace(file, static_cast<std::uint32_t>(files_.size()));
    if (is_new) files_.push_back(file);
    return found->second;
}

// Instruction `number` of a later generation beside that of generation 0.
void Recorder::compare(const device::Operation& operation, std::uint64_t number) {
    const std::int64_t generation = progress_.generation;
    if (number == recorded_.size()) {
        refuse(operation, "generation {} issues it after the last instruction of generation 0",
               generation);
    }
    Recorded& first = recorded_[number];
    if (!is_same(first.operation, operation)) {
        const bool is_here = first.operation.line == operation.line &&
                             first.operation.file == operation.file &&
                             first.operation.name == operation.name;
        if (is_here) refuse(first.operation, "generation {} gives it other operands", generation);
        refuse(first.operation, "generation {} issues {} instead ({})", generation, operation.name,
               place_of(operation));
    }
    note_places(operation, number);
    const std::int64_t value = operation.value;
    if (generation == 1) first.per_generation = value - first.operation.value;
    const std::int64_t wanted = first.operation.value + generation * first.per_generation;
    // What nobody claims may exceed what a cell holds.
    const bool is_claimed = generation < run_.options.calls;
    if (value == (is_claimed ? wanted : static_cast<std::int32_t>(wanted))) return;
    say_sentence(operation,
                 "the value is {} and {} in generations 0 and 1, and {} in generation {}, not "
                 "{}: it must grow by a constant from one call on a window to the next",
                 first.operation.value, first.operation.value + first.per_generation, value,
                 generation, wanted);
}

void Recorder::note_places(const device::Operation& operation, std::uint64_t number) {
    for (std::size_t i = 0; i < std::size(operation.memory); ++i) {
        const std::uint64_t first = recorded_[number].operation.memory[i].address;
        const std::uint64_t address = operation.memory[i].address;
        const auto known = moved_.find({number, i});
        if (known == moved_.end() && address == first) continue;
        std::vector<std::uint64_t>& addresses = moved_[{number, i}];
        addresses.resize(traced_, first);
        addresses.push_back(address);
    }
}

// All places are in each generation where they are in the same turn of the first.
void Recorder::settle_places() {
    const auto comes_back = [&](const std::vector<std::uint64_t>& addresses) {
        for (std::size_t i = 0; i < addresses.size(); ++i) {
            const auto generation = static_cast<std::uint64_t>(run_.generations[i]);
            if (addresses[i] != addresses[generation % turns_]) return false;
        }
        return true;
    };
    for (const auto& [operand, addresses] : moved_) {
        while (turns_ <= kMostTracedTurns && !comes_back(addresses)) ++turns_;
        if (turns_ <= kMostTracedTurns) continue;
        say_sentence(recorded_[operand.first].operation,
                     "its memory moves with the generation, and is not back where it was after "
                     "{} generations or fewer: calls may take so many turns",
                     kMostTracedTurns);
    }
    for (const auto& [operand, addresses] : moved_) {
        if (!comes_back(addresses)) return settle_further();
        places_.emplace_back(addresses.begin(), addresses.begin() + turns_);
        recorded_[operand.first].places[operand.second] =
            static_cast<std::uint32_t>(places_.size());
    }
}

// Several periods: the next number of turns.
void Recorder::settle_further() {
    places_.clear();
    ++turns_;
    settle_places();
}

void Recorder::send_recording(const ShimLaunch& launch) const {
    std::string text;
    const auto append = [&](const void* data, std::size_t bytes) {
        text.append(static_cast<const char*>(data), bytes);
    };
    const std::uint64_t counts[] = {
        recorded_.size(), files_.size(),  static_cast<std::uint64_t>(launch.blocks),
        turns_,           places_.size(), launch.created.size()};
    append(counts, sizeof(counts));
    append(launch.created.data(), launch.created.size() * sizeof(Created));
    append(recorded_.data(), recorded_.size() * sizeof(Recorded));
    for (const auto& list : places_) append(list.data(), list.size() * sizeof(list[0]));
    for (const std::string& file : files_) append(file.c_str(), file.size() + 1);
    // The names of instructions are in the library: they travel as text too.
    for (const Recorded& one : recorded_) {
        append(one.operation.name, std::strlen(one.operation.name) + 1);
    }
    messenger_.send(Message::recording, text);
}

void Recorder::end_with(const Operation& operation, const std::string& words) const {
    messenger_.end(Message::sentence, fmt::format("{}, {}: {}: {}", place_of(operation), run_.who(),
                                                  operation.name, words));
}

}  // namespace peal::pto
