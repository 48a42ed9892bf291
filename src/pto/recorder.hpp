// SPDX-License-Identifier: Apache-2.0
// Writes down what a kernel asks for, in its process.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "pto/trace_child.hpp"
#include "pto/trace_report.hpp"

namespace peal::pto {

// Which of the launches of a shim this is, on how many blocks, and what the shim has created so
// far.
struct ShimLaunch {
    std::uint32_t number = 0;  // in its call
    std::int32_t blocks = 1;
    std::vector<Created> created;
};

// Calls follow one another, each of its generation. The first is written down, later ones are held
// against it; where they differ in more than they may, the process ends with a sentence.
class Recorder {
public:
    Recorder(const KernelRun& run, const Messenger& messenger, Progress& progress)
        : run_(run), messenger_(messenger), progress_(progress) {}

    void begin(std::int64_t generation);
    void add(const ::pto::trace::Operation& operation, const ShimLaunch& launch);
    void end();
    // After the last call.
    void send(const ShimLaunch& launch);

private:
    using Operation = ::pto::trace::Operation;

    std::uint32_t number_of(const std::string& file);
    void compare(const Operation& operation, std::uint64_t number);
    void note_places(const Operation& operation, std::uint64_t number);
    void settle_places();
    void settle_further();
    void send_recording(const ShimLaunch& launch) const;

    template <class... Args>
    [[noreturn]] void refuse(const Operation& operation, fmt::format_string<Args...> format,
                             Args&&... args) const {
        say_sentence(operation,
                     "{}; only the values of signals, and where in memory data is, may depend on "
                     "the generation, all else is one plan",
                     fmt::format(format, std::forward<Args>(args)...));
    }

    template <class... Args>
    [[noreturn]] void say_sentence(const Operation& operation, fmt::format_string<Args...> format,
                                   Args&&... args) const {
        end_with(operation, fmt::format(format, std::forward<Args>(args)...));
    }
    [[noreturn]] void end_with(const Operation& operation, const std::string& words) const;

    const KernelRun& run_;
    const Messenger& messenger_;
    Progress& progress_;
    std::vector<Recorded> recorded_;
    std::size_t traced_ = 0;  // generations before this one
    // Operands of memory that are not always in the same place, by number and operand: where, by
    // traced generation.
    std::map<std::pair<std::uint64_t, std::size_t>, std::vector<std::uint64_t>> moved_;
    std::uint32_t turns_ = 1;
    std::vector<std::vector<std::uint64_t>> places_;
    std::vector<std::string> files_;
    std::map<std::string, std::uint32_t> numbers_;
    const char* last_file_ = nullptr;
    std::uint32_t file_number_ = 0;
};

}  // namespace peal::pto
