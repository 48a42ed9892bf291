// SPDX-License-Identifier: Apache-2.0
// From kernels to plans: run it for each rank, write down what it does, find out how its signals
// grow, and name its lines.
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "peal/error.hpp"
#include "peal/pto.hpp"
#include "platform_comm/comm_context.h"
#include "pto/transcribe.hpp"

namespace peal::pto {
namespace {

namespace fs = std::filesystem;

// Two give a straight line, the third says whether it is one.
constexpr int kGenerations = 3;

// ---------------------------------------------------------------------------- the source

// All files that instructions come from, the kernel's own first.
class SourceBook {
public:
    explicit SourceBook(const Kernel& kernel)
        : own_(fs::absolute(kernel.path()).lexically_normal()), name_(kernel.path()) {
        add(own_.string(), "");
    }

    // The line of the whole source.
    std::uint32_t line(const std::string& file, std::uint32_t line) {
        auto found = first_lines_.find(file);
        if (found == first_lines_.end()) {
            add(file, fs::path(file).filename());
            found = first_lines_.find(file);
        }
        return found->second + line - 1;
    }

    SourcePtr source() && {
        return std::make_shared<const Source>(name_, std::move(text_), std::move(included_));
    }

private:
    void add(const std::string& file, const std::string& shown) {
        std::ifstream stream(file, std::ios::binary);
        std::ostringstream content;
        content << stream.rdbuf();
        std::string text = content.str();
        if (!text.empty() && text.back() != '\n') text += '\n';
        first_lines_[file] = lines_ + 1;
        if (!shown.empty()) included_.push_back({shown, lines_ + 1});
        lines_ += static_cast<std::uint32_t>(std::count(text.begin(), text.end(), '\n'));
        text_ += text;
    }

    fs::path own_;
    std::string name_, text_;
    std::uint32_t lines_ = 0;
    std::map<std::string, std::uint32_t> first_lines_;
    std::vector<Source::Part> included_;
};

// ---------------------------------------------------------------------------- generations

// Works on const and other actions.
template <class AnyAction>
auto value_of(AnyAction& action) -> decltype(&std::get_if<Notify>(&action)->value) {
    if (auto* notify = std::get_if<Notify>(&action)) return &notify->value;
    if (auto* wait = std::get_if<Wait>(&action)) return &wait->value;
    return nullptr;
}

// The same kernel as it runs for the first, second and third time on its windows.
class Generations {
public:
    Generations(const Kernel& kernel, std::vector<Transcript> transcripts)
        : kernel_(kernel), all_(std::move(transcripts)) {}

    Transcript merged() && {
        Transcript& first = all_[0];
        for (const Transcript& later : all_) {
            const std::size_t common =
                std::min(first.instructions.size(), later.instructions.size());
            for (std::size_t i = 0; i < common; ++i) require_same(i, later);
            if (first.instructions.size() != later.instructions.size()) fail(first, common, later);
        }
        for (std::size_t i = 0; i < first.instructions.size(); ++i) merge(i);
        return std::move(first);
    }

private:
    // Nothing but signal values may differ.
    void require_same(std::size_t i, const Transcript& later) const {
        Instruction a = all_[0].instructions[i];
        Instruction b = later.instructions[i];
        if (Value* value = value_of(a.action)) *value = {};
        if (Value* value = value_of(b.action)) *value = {};
        if (a != b) fail(all_[0], i, later);
    }

    void merge(std::size_t i) {
        Value* value = value_of(all_[0].instructions[i].action);
        if (!value) return;
        const auto constant = [&](int generation) {
            const Transcript& transcript = all_[static_cast<std::size_t>(generation)];
            return value_of(transcript.instructions[i].action)->constant;
        };
        value->per_generation = constant(1) - constant(0);
        if (constant(2) - constant(1) != value->per_generation) {
            throw Error(
                Fault::program,
                fmt::format("{}:{}: a signal's value is {}, {} and {} in the first calls on "
                            "a window: it must grow by a constant",
                            kernel_.path(), all_[0].instructions[i].line, constant(0), constant(1),
                            constant(2)));
        }
    }

    [[noreturn]] void fail(const Transcript& first, std::size_t i, const Transcript& later) const {
        const Transcript& longer = i < first.instructions.size() ? first : later;
        throw Error(
            Fault::program,
            fmt::format("{}:{}: what the kernel does depends on the generation in more than "
                        "the values of signals; it cannot be one plan",
                        kernel_.path(), longer.instructions[i].line));
    }

    const Kernel& kernel_;
    std::vector<Transcript> all_;
};

// ---------------------------------------------------------------------------- one rank

class RankTracer {
public:
    RankTracer(const Kernel& kernel, const std::vector<Parameter>& parameters, const Layout& layout,
               int nranks, const TraceOptions& options, SourceBook& book)
        : kernel_(kernel),
          parameters_(parameters),
          layout_(layout),
          nranks_(nranks),
          options_(options),
          book_(book) {}

    Plan trace(int rank) {
        const AddressSpace addresses(layout_, rank, nranks_);
        std::vector<Transcript> transcripts;
        for (int generation = 0; generation < generations(); ++generation) {
            const KernelRun run{&kernel_, &parameters_, &layout_,   &addresses,
                                rank,     nranks_,      generation, options_};
            const Recording recording = record(run);
            transcripts.push_back(transcribe(recording, run));
            name_lines(transcripts.back(), recording);
        }
        if (transcripts.size() == 1) return plan(rank, std::move(transcripts[0]));
        return plan(rank, Generations(kernel_, std::move(transcripts)).merged());
    }

private:
    int generations() const {
        const bool has =
            std::any_of(parameters_.begin(), parameters_.end(),
                        [](const Parameter& p) { return p.kind == Parameter::Kind::generation; });
        return has ? kGenerations : 1;
    }

    void name_lines(Transcript& transcript, const Recording& recording) {
        for (std::size_t i = 0; i < transcript.instructions.size(); ++i) {
            const Recorded& origin = recording.operations[transcript.origins[i]];
            transcript.instructions[i].line =
                book_.line(recording.files[origin.file], origin.operation.line);
        }
    }

    Plan plan(int rank, Transcript transcript) const {
        Plan plan;
        plan.kernel = kernel_.name();
        plan.rank = rank;
        plan.nranks = nranks_;
        plan.buffers = layout_.buffers;
        plan.tile_bytes = transcript.tile_bytes;
        plan.instructions = std::move(transcript.instructions);
        plan.advance = layout_.advance;
        return plan;
    }

    const Kernel& kernel_;
    const std::vector<Parameter>& parameters_;
    const Layout& layout_;
    int nranks_;
    TraceOptions options_;
    SourceBook& book_;
};

void check_ranks(int nranks) {
    if (nranks >= 1 && nranks <= static_cast<int>(COMM_MAX_RANK_NUM)) return;
    throw Error(Fault::usage,
                fmt::format("PTO kernels have 1 to {} ranks, found {}", COMM_MAX_RANK_NUM, nranks));
}

}  // namespace

std::vector<Plan> trace(const Kernel& kernel, const std::vector<Parameter>& parameters, int nranks,
                        const TraceOptions& options) {
    check_ranks(nranks);
    const Layout layout(parameters);
    SourceBook book(kernel);
    RankTracer tracer(kernel, parameters, layout, nranks, options, book);
    std::vector<Plan> plans;
    for (int rank = 0; rank < nranks; ++rank) plans.push_back(tracer.trace(rank));
    const SourcePtr source = std::move(book).source();
    for (Plan& plan : plans) plan.source = source;
    return plans;
}

}  // namespace peal::pto
