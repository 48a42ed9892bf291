// SPDX-License-Identifier: Apache-2.0
// What the process of a kernel says to the one that watches it.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "pto/child.hpp"
#include "pto/trace_child.hpp"

namespace peal::pto {

enum class Message : char {
    recording = 'R',
    words = 'W',
    sentence = 'S',
    crash = 'C',
    refusal = 'N'
};

struct Crash {
    static constexpr int kMaxFrames = 32;
    int signal = 0;
    std::uint64_t address = 0;
    int access = -1;             // 0 read, 1 write, -1 not known
    std::int64_t argument = -1;  // behind the last one, that was touched
    int frame_count = 0;
    // Places in the libraries of Callee::kernels; the one behind them is the shim's.
    std::uint64_t frames[kMaxFrames] = {};
    std::uint32_t libraries[kMaxFrames] = {};
};

// How far the kernel has come; shared with the parent, who may have to tell.
struct Progress {
    std::atomic<std::int64_t> generation = 0;
    std::atomic<ChildClock::time_point> began = ChildClock::now();  // this generation
    std::uint64_t operations = 0;  // of this generation, and the last one's place:
    std::uint32_t line = 0;
    char name[32] = {};
    char file[512] = {};
};

// The child's end.
class Messenger {
public:
    explicit Messenger(int descriptor) : descriptor_(descriptor) {}

    void send(Message kind, std::string_view text) const;
    [[noreturn]] void end(Message kind, std::string_view text) const;  // the process, too
    [[noreturn]] void end(const Crash& crash) const;                   // in a signal handler

private:
    int descriptor_;
};

// How many bytes may be said, after it has begun like this: a recording says how long it is.
std::size_t speech_limit(std::string_view said, std::uint64_t max_operations);

// The parent's end: what was recorded. Throws Error(program), which says why there is none.
Recording recording_of(const ChildEnd& end, const KernelRun& run, const Progress& progress);

}  // namespace peal::pto
