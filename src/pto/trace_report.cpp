// SPDX-License-Identifier: Apache-2.0
#include "pto/trace_report.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file.hpp"
#include "peal/compile.hpp"
#include "peal/error.hpp"
#include "pto/program.hpp"

namespace peal::pto {

void Messenger::send(Message kind, std::string_view text) const {
    say(descriptor_, &kind, sizeof(kind));
    say(descriptor_, text.data(), text.size());
}

void Messenger::end(Message kind, std::string_view text) const {
    send(kind, text);
    _exit(0);
}

void Messenger::end(const Crash& crash) const {
    send(Message::crash, {reinterpret_cast<const char*>(&crash), sizeof(crash)});
    _exit(1);
}

std::size_t speech_limit(std::string_view said, std::uint64_t max_operations) {
    constexpr std::size_t kOther = 1 << 20;  // and the files of a recording
    constexpr std::size_t kName = 64;        // of an instruction
    constexpr std::size_t kPlaces = 2 * sizeof(std::uint64_t) * kMostTracedTurns;
    std::uint64_t count = 0;
    if (said.size() < 1 + sizeof(count) || said[0] != static_cast<char>(Message::recording)) {
        return kOther;
    }
    std::memcpy(&count, said.data() + 1, sizeof(count));
    return kOther + std::min(count, max_operations) * (sizeof(Recorded) + kName + kPlaces);
}

namespace {

namespace device = ::pto::trace;

constexpr std::uint64_t kMostTextBytes = std::uint64_t{64} << 20;

// Takes a message apart; calls `fail`, which does not return, where it ends too early.
template <class Fail>
class Scanner {
public:
    Scanner(std::string_view text, Fail fail) : left_(text), fail_(fail) {}

    void take(void* to, std::size_t bytes) {
        if (bytes > left_.size()) fail_();
        if (bytes > 0) std::memcpy(to, left_.data(), bytes);
        left_.remove_prefix(bytes);
    }
    std::string_view word() {
        const std::size_t end = left_.find('\0');
        if (end == std::string_view::npos) fail_();
        const std::string_view found = left_.substr(0, end);
        left_.remove_prefix(end + 1);
        return found;
    }
    bool is_at_end() const { return left_.empty(); }

private:
    std::string_view left_;
    Fail fail_;
};

class Listener {
public:
    Listener(const KernelRun& run, const Progress& progress) : run_(run), progress_(progress) {}

    Recording recording(const ChildEnd& end) const {
        if (end.timed_out) {
            fail("the kernel does not return: it was stopped after {} ms{}",
                 run_.options.timeout.count(), last_instruction());
        }
        if (end.said_too_much) refuse_report();
        const std::string_view said = std::string_view(end.said).substr(end.said.empty() ? 0 : 1);
        switch (end.said.empty() ? Message() : static_cast<Message>(end.said[0])) {
            case Message::recording: return read(said);
            case Message::words: fail("{}", said);
            case Message::sentence: throw Error(Fault::program, std::string(said));
            case Message::crash: fail_by(said);
            case Message::refusal: fail_by_refusal(std::string(said));
        }
        if (end.signal != 0) {
            fail("the kernel's process was ended by signal {} ({}){}", end.signal,
                 strsignal(end.signal), last_instruction());
        }
        fail("the kernel ends its process, with exit status {}{}", end.status, last_instruction());
    }

private:
    template <class... Args>
    [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
        const std::int64_t generation = progress_.generation;
        throw Error(Fault::program,
                    fmt::format("{}, {}{}: {}", run_.callee->path, run_.who(),
                                generation == 0 ? "" : fmt::format(", generation {}", generation),
                                fmt::format(format, std::forward<Args>(args)...)));
    }

    // The kernel can have overwritten where it ends.
    template <std::size_t kSize>
    static std::string_view within(const char (&text)[kSize]) {
        return {text, strnlen(text, kSize)};
    }

    std::string last_instruction() const {
        if (progress_.operations == 0) return "; it issued no instruction";
        return fmt::format("; its last instruction was {} ({}:{}), number {}",
                           within(progress_.name),
                           std::filesystem::path(within(progress_.file)).filename().string(),
                           progress_.line, progress_.operations);
    }

    // The kernel can write into the channel, too: nothing is believed.
    Recording read(std::string_view text) const {
        Scanner scanner(text, [this] { refuse_report(); });
        std::uint64_t counts[6];
        scanner.take(counts, sizeof(counts));
        if (counts[0] > run_.options.max_operations || counts[1] > text.size() || counts[2] < 1 ||
            counts[2] > kMaxLanes || counts[3] < 1 || counts[3] > kMostTracedTurns ||
            counts[4] > 2 * counts[0] || counts[5] > kMostCreated) {
            refuse_report();
        }
        Recording recording;
        recording.created.resize(counts[5]);
        scanner.take(recording.created.data(), counts[5] * sizeof(Created));
        for (const Created& one : recording.created) {
            const bool is_element = static_cast<std::size_t>(one.element) < kElements.size();
            if (one.bytes == 0 || one.bytes > kMostCreatedBytes || !is_element) refuse_report();
        }
        recording.blocks = static_cast<std::int32_t>(counts[2]);
        recording.operations.resize(counts[0]);
        scanner.take(recording.operations.data(), counts[0] * sizeof(Recorded));
        recording.turns = static_cast<std::uint32_t>(counts[3]);
        recording.places.resize(counts[4]);
        for (auto& list : recording.places) {
            list.resize(recording.turns);
            scanner.take(list.data(), list.size() * sizeof(list[0]));
        }
        for (std::uint64_t i = 0; i < counts[1]; ++i) {
            recording.files.emplace_back(scanner.word());
        }
        for (Recorded& one : recording.operations) {
            if (!makes_sense(one, recording.files.size())) refuse_report();
            for (const std::uint32_t place : one.places) {
                if (place > recording.places.size()) refuse_report();
            }
            one.operation.name = interned(scanner.word());
            one.operation.file = nullptr;
        }
        if (!scanner.is_at_end()) refuse_report();
        return recording;
    }

    [[noreturn]] void refuse_report() const {
        fail(
            "what its process reports makes no sense: does the kernel write to descriptors that "
            "it has not opened?");
    }

    static bool makes_sense(const Recorded& one, std::size_t files) {
        // Bytes that are none of these would be no values of their types.
        const auto is_up_to = [](const auto& value, auto last) {
            unsigned char byte = 0;
            static_assert(sizeof(value) == sizeof(byte));
            std::memcpy(&byte, &value, sizeof(byte));
            return byte <= static_cast<unsigned char>(last);
        };
        const device::Operation& operation = one.operation;
        return is_up_to(operation.op, device::kLastOp) && one.file < files &&
               std::all_of(std::begin(operation.tile), std::end(operation.tile),
                           [&](const device::TileOperand& tile) {
                               return is_up_to(tile.is_assigned, 1) &&
                                      is_up_to(tile.type, device::Type::u8);
                           }) &&
               std::all_of(std::begin(operation.memory), std::end(operation.memory),
                           [&](const device::MemoryOperand& memory) {
                               return is_up_to(memory.type, device::Type::u8);
                           });
    }

    // Instructions have a few dozen names.
    static const char* interned(std::string_view name) {
        static std::map<std::string, int, std::less<>> names;
        auto found = names.find(name);
        if (found == names.end()) found = names.emplace(std::string(name), 0).first;
        return found->first.c_str();
    }

    [[noreturn]] void fail_by(std::string_view said) const {
        Crash crash;
        if (said.size() != sizeof(crash)) refuse_report();
        std::memcpy(&crash, said.data(), sizeof(crash));
        if (crash.frame_count < 0 || crash.frame_count > Crash::kMaxFrames) refuse_report();
        const std::size_t libraries =
            run_.callee->kernels.size() + (run_.callee->shim.empty() ? 0 : 1);
        for (const std::uint32_t number : crash.libraries) {
            if (number >= libraries) refuse_report();
        }
        const bool touched = crash.signal == SIGSEGV || crash.signal == SIGBUS;
        const auto location = touched ? run_.addresses->find(crash.address) : std::nullopt;
        const std::string frames = backtrace_of(crash);
        if (touched && crash.argument >= 0) {
            fail("the kernel reads args[{}], which is missing: {}; list what it takes with --arg{}",
                 crash.argument, given_text(run_.frame->arguments), frames);
        }
        if (const std::string taken = touched && !location ? taken_for_pointer(crash.address) : "";
            !taken.empty()) {
            fail(
                "the kernel touches address {:#x}, where nothing is; if it took {} for an address, "
                "an "
                "argument is missing or in another place: {}{}",
                crash.address, taken, given_text(run_.frame->arguments), frames);
        }
        if (!location) {
            const std::string where =
                touched ? fmt::format(" at address {:#x}", crash.address) : std::string();
            fail("the kernel crashes: signal {} ({}){}{}{}", crash.signal, strsignal(crash.signal),
                 where, last_instruction(), frames);
        }
        const std::string_view verb = crash.access == 0   ? "reads"
                                      : crash.access == 1 ? "writes"
                                                          : "touches";
        fail(
            "not traceable: the kernel itself {} {}; data may be touched by instructions only, and "
            "may not decide what is done{}",
            verb, text_of(*location, 1, run_.layout()), frames);
    }

    // The line that returns the code says why.
    [[noreturn]] void fail_by_refusal(const std::string& code) const {
        const Source source(run_.callee->path, base::read_text(run_.callee->path, kMostTextBytes));
        const std::string& text = source.text();
        const std::size_t check = text.find("kernel_check(");
        const std::size_t at = text.find(fmt::format("return {};", code), check);
        Span where;
        if (check != std::string::npos && at != std::string::npos) {
            const auto end = text.begin() + static_cast<std::ptrdiff_t>(at);
            where.line = 1 + static_cast<std::uint32_t>(std::count(text.begin(), end, '\n'));
            where.column = 1;
        }
        throw RequirementError(
            {{Diagnostic::Severity::error, where,
              fmt::format("rank {} of {}: kernel_check refuses these arguments with {}", run_.rank,
                          run_.nranks, code),
              ""}},
            &source);
    }

    // Numbers among the arguments at which something that ends with this address could begin.
    std::string taken_for_pointer(std::uint64_t address) const {
        constexpr std::uint64_t kLargest = 4096;  // of what arguments point to
        std::vector<std::string> words;
        for (std::size_t i = 0; i < run_.frame->arguments.size(); ++i) {
            const auto value = run_.number_at(i, progress_.generation);
            if (!value || address - static_cast<std::uint64_t>(*value) >= kLargest) continue;
            const Parameter::Kind kind = run_.frame->arguments[i].kind;
            words.push_back(fmt::format("args[{}] ({} {})", i, name(kind), *value));
        }
        return fmt::format("{}", fmt::join(words, " or "));
    }

    // The lines that led there, innermost first.
    std::string backtrace_of(const Crash& crash) const {
        const bool can_tell = !find_program("addr2line").empty();
        std::string text;
        for (int i = 0; i < crash.frame_count; ++i) {
            // A return address is behind its call.
            const std::uint64_t address = crash.frames[i] - (i > 0 ? 1 : 0);
            if (!can_tell) {
                text += fmt::format("\n    kernel+{:#x}", crash.frames[i]);
                continue;
            }
            const std::string said =
                run_program({"addr2line", "-Cfpse", library(crash.libraries[i]),
                             fmt::format("{:#x}", address)})
                    .output;
            std::istringstream lines(said);
            for (std::string line; std::getline(lines, line);) text += "\n    " + line;
        }
        return text;
    }
    const std::string& library(std::size_t number) const {
        const Callee& callee = *run_.callee;
        return number < callee.kernels.size() ? callee.kernels[number].library : callee.shim;
    }

    const KernelRun& run_;
    const Progress& progress_;
};

}  // namespace

Recording recording_of(const ChildEnd& end, const KernelRun& run, const Progress& progress) {
    return Listener(run, progress).recording(end);
}

}  // namespace peal::pto
