// SPDX-License-Identifier: Apache-2.0
// From kernels to plans: run it for each rank and for many generations, write down what it does,
// and name its lines.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "peal/error.hpp"
#include "peal/pto.hpp"
#include "platform_comm/comm_context.h"
#include "pto/transcribe.hpp"

namespace peal::pto {
namespace {

namespace fs = std::filesystem;

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

// All generations that are claimed, and at least so many: what comes back after a few calls shows.
constexpr std::int64_t kInARow = 32;
// Behind them, numbers around powers of two up to this one, and some that have no small divisor.
constexpr std::int64_t kLargestPower = 1 << 16;
constexpr std::array<std::int64_t, 5> kPrimes = {97, 997, 9973, 99'991, 999'983};

std::vector<std::int64_t> generations_of(const std::vector<Parameter>& parameters, int calls) {
    const bool has_generation =
        std::any_of(parameters.begin(), parameters.end(),
                    [](const Parameter& p) { return p.kind == Parameter::Kind::generation; });
    if (!has_generation) return {0};
    std::set<std::int64_t> generations(kPrimes.begin(), kPrimes.end());
    for (std::int64_t power = 1; power <= kLargestPower; power *= 2) {
        generations.insert({power - 1, power});
    }
    for (std::int64_t i = 0; i < std::max<std::int64_t>(calls, kInARow); ++i) generations.insert(i);
    return {generations.begin(), generations.end()};
}

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
          generations_(generations_of(parameters, options.calls)),
          book_(book) {}

    Plan trace(int rank) {
        const AddressSpace addresses(layout_, rank, nranks_);
        Plan plan = empty_plan(rank);
        for (int block = 0; block < options_.blocks; ++block) {
            const KernelRun run{&kernel_, &parameters_, &layout_, &addresses, rank,
                                nranks_,  generations_, options_, block};
            const Recording recording = record(run);
            Transcript transcript = transcribe(recording, run);
            name_lines(transcript, recording);
            add_lane(plan, std::move(transcript), block);
        }
        return plan;
    }

private:
    void name_lines(Transcript& transcript, const Recording& recording) {
        for (std::size_t i = 0; i < transcript.instructions.size(); ++i) {
            const Recorded& origin = recording.operations[transcript.origins[i]];
            transcript.instructions[i].line =
                book_.line(recording.files[origin.file], origin.operation.line);
        }
    }

    static void add_lane(Plan& plan, Transcript transcript, int block) {
        std::vector<Instruction>& list = plan.instructions;
        if (block > 0) plan.lanes.push_back(static_cast<std::uint32_t>(list.size()));
        plan.tile_bytes = std::max(plan.tile_bytes, transcript.tile_bytes);
        list.insert(list.end(), std::make_move_iterator(transcript.instructions.begin()),
                    std::make_move_iterator(transcript.instructions.end()));
    }

    Plan empty_plan(int rank) const {
        Plan plan;
        plan.kernel = kernel_.name();
        plan.rank = rank;
        plan.nranks = nranks_;
        plan.buffers = layout_.buffers;
        plan.advance = layout_.advance;
        return plan;
    }

    const Kernel& kernel_;
    const std::vector<Parameter>& parameters_;
    const Layout& layout_;
    int nranks_;
    TraceOptions options_;
    std::vector<std::int64_t> generations_;
    SourceBook& book_;
};

void check_counts(int nranks, const TraceOptions& options) {
    if (options.calls < 1) {
        throw Error(Fault::usage,
                    fmt::format("a kernel is traced for 1 call or more, found {}", options.calls));
    }
    if (options.blocks < 1 || options.blocks > kMaxLanes) {
        throw Error(Fault::usage,
                    fmt::format("a rank has 1 to {} blocks, found {}", kMaxLanes, options.blocks));
    }
    if (nranks >= 1 && nranks <= static_cast<int>(COMM_MAX_RANK_NUM)) return;
    throw Error(Fault::usage,
                fmt::format("PTO kernels have 1 to {} ranks, found {}", COMM_MAX_RANK_NUM, nranks));
}

}  // namespace

std::vector<Plan> trace(const Kernel& kernel, const std::vector<Parameter>& parameters, int nranks,
                        const TraceOptions& options) {
    check_counts(nranks, options);
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
