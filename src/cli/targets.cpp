// SPDX-License-Identifier: Apache-2.0
// Targets without a command line. Their options are read as the command's, so that there is one
// list of them, and one place that says what each of them takes.
#include "peal/targets.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/check_report.hpp"
#include "cli/check_run.hpp"
#include "cli/command_line.hpp"
#include "cli/option_words.hpp"
#include "cli/run.hpp"
#include "cli/runner.hpp"
#include "golden/golden.hpp"
#include "language/names.hpp"
#include "peal/error.hpp"

namespace peal {
namespace {

using namespace cli;

// ---------------------------------------------------------------------------- options

[[noreturn]] void refuse_unknown(const std::string& word, const std::vector<OptionFacts>& facts) {
    std::vector<std::string> known;
    for (const OptionFacts& fact : facts) {
        if (fact.key != "target") known.push_back(key_word(fact));
    }
    std::sort(known.begin(), known.end());
    throw Error(Fault::usage, fmt::format("there is no option '{}'; options are {}", word,
                                          fmt::join(known, ", ")));
}

// The options by the command's keys.
OptionValues keyed(OptionValues options, const std::vector<OptionFacts>& facts) {
    for (auto& option : options) {
        std::string& word = option.first;
        const std::string& value = option.second;
        const auto fact = std::find_if(facts.begin(), facts.end(), [&](const OptionFacts& each) {
            return each.key != "target" && key_word(each) == word;
        });
        if (fact == facts.end()) refuse_unknown(word, facts);
        const bool is_flag = fact->takes == OptionFacts::Takes::flag;
        if (is_flag && value != "true" && value != "false") {
            throw Error(Fault::usage,
                        fmt::format("{}: expected true or false, found '{}'", word, value));
        }
        word = fact->key;
    }
    return options;
}

// Does `work` with the options that `add` adds filled in. What is wrong is said of options by the
// names that they have here.
template <typename Work>
auto with_options(const TargetRequest& request, TargetOptions& target,
                  const std::function<void(Command&)>& add, const Work& work) {
    CommandLine line("peal", "", "");
    Command& command = *line.add_subcommand("target", "");
    add(command);
    command.callback([] { return kFine; });
    const std::vector<OptionFacts> facts = command.options();
    const OptionValues options = keyed(request.options, facts);
    const bool is_at_hand = request.program || request.plans;
    std::vector<std::string> words = {"target", is_at_hand ? "at hand" : request.target};
    for (std::string& word : words_of(options, facts)) words.push_back(std::move(word));
    try {
        line.run_words(words);
        target.target = request.target;
        target.program = request.program;
        target.plans = request.plans;
        return work(facts);
    } catch (const ProgramError&) {
        throw;  // speaks of the program
    } catch (const Error& error) {
        throw Error(error.fault(), said_by_key(error.what(), facts));
    }
}

template <typename Work>
auto with_run_options(const TargetRequest& request, const Work& work) {
    RunOptions options;
    const auto add = [&](Command& command) { add_carry_options(command, options); };
    return with_options(request, options.target, add,
                        [&](const std::vector<OptionFacts>&) { return work(options); });
}

// ---------------------------------------------------------------------------- inputs and outputs

std::string place_of(const TargetArray& array) {
    return fmt::format("input '{}' of rank {}", array.name, array.rank);
}

std::size_t buffer_of(const TargetArray& array, const std::vector<Plan>& plans) {
    const auto nranks = static_cast<int>(plans.size());
    if (array.rank < 0 || array.rank >= nranks) {
        throw Error(Fault::usage, fmt::format("{}: there are {} ranks", place_of(array), nranks));
    }
    const Plan& plan = plans[static_cast<std::size_t>(array.rank)];
    std::vector<std::string_view> names;
    for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
        const Buffer& buffer = plan.buffers[b];
        if (!is_argument(buffer, Direction::in) && buffer.kind != BufferKind::window) continue;
        names.push_back(buffer.name);
        if (buffer.name != array.name) continue;
        if (buffer.element != array.element || buffer.bytes != array.bytes.size()) {
            throw Error(
                Fault::usage,
                fmt::format("{}: expected {} {}, found {} {}", place_of(array), buffer.elements(),
                            name(buffer.element), array.bytes.size() / bytes_of(array.element),
                            name(array.element)));
        }
        return b;
    }
    throw Error(Fault::usage, fmt::format("{}: the kernel reads no such buffer; it reads {}",
                                          place_of(array), fmt::join(names, ", ")));
}

void put(const std::vector<TargetArray>& inputs, const std::vector<Plan>& plans, int rank,
         const RankMemory& memory) {
    for (const TargetArray& input : inputs) {
        if (input.rank != rank || input.bytes.empty()) continue;
        std::memcpy(memory(buffer_of(input, plans)), input.bytes.data(), input.bytes.size());
    }
}

// Given inputs in their places, numbers in all others.
RankWork given_work(const ReadyRun& ready, const std::vector<TargetArray>& inputs, int calls) {
    RankWork work;
    work.calls = calls;
    work.before = [&](int rank, int, const RankMemory& memory) {
        fill_inputs(ready.plans[static_cast<std::size_t>(rank)], memory);
        put(inputs, ready.plans, rank, memory);
    };
    work.after = [](int, int, const RankMemory&) { return std::nullopt; };
    return with_held(std::move(work), ready.plans, ready.target.holds);
}

golden::Bytes part_of(const std::byte* memory, const Collective& collective,
                      const golden::Region& region) {
    const std::uint64_t each = bytes_of(collective.element);
    const std::byte* begin = memory + (is_apart(collective.placement) ? 0 : region.offset * each);
    return {begin, begin + region.count * each};
}

std::vector<TargetArray> outputs_of(const std::vector<Plan>& plans, Runner& runner) {
    std::vector<TargetArray> outputs;
    for (const Plan& plan : plans) {
        for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
            const Buffer& buffer = plan.buffers[b];
            if (!is_argument(buffer, Direction::out)) continue;
            const std::byte* const begin = runner.argument(plan.rank, b);
            outputs.push_back(
                {buffer.name, plan.rank, buffer.element, {begin, begin + buffer.bytes}});
        }
    }
    return outputs;
}

// What each rank must get for these inputs, by rank.
std::vector<TargetArray> golden_of(const ReadyRun& ready,
                                   const std::vector<golden::Bytes>& inputs) {
    const Collective& collective = *ready.collective;
    const Ports ports = ready.target.ports(collective, ready.plans);
    const auto nranks = static_cast<int>(ready.plans.size());
    const auto results = golden::expected(collective, nranks, inputs);
    std::vector<TargetArray> arrays;
    for (int rank = 0; rank < nranks; ++rank) {
        const auto& result = results[static_cast<std::size_t>(rank)];
        if (!result) continue;
        const Plan& plan = ready.plans[static_cast<std::size_t>(rank)];
        arrays.push_back({plan.buffers[ports.output].name, rank, collective.element, *result});
    }
    return arrays;
}

bool has_data(const std::optional<Collective>& collective) {
    return collective && facts_of(collective->kind).has_data();
}

[[noreturn]] void refuse(const Proof& proof) {
    throw Error(proof.exit_code == kBoundReached ? Fault::bound : Fault::wrong,
                "not run: " + proof.reason);
}

// The inputs of the last call, as each rank had them.
class Observed {
public:
    Observed(const ReadyRun& ready, RankWork& work) : inputs_(ready.plans.size()) {
        if (!has_data(ready.collective)) return;
        const Collective collective = *ready.collective;
        const std::uint16_t port = ready.target.ports(collective, ready.plans).input;
        const auto nranks = static_cast<int>(ready.plans.size());
        work.before = [this, collective, port, nranks, before = std::move(work.before)](
                          int rank, int call, const RankMemory& memory) {
            before(rank, call, memory);
            inputs_[static_cast<std::size_t>(rank)] =
                part_of(memory(port), collective, golden::input_region(collective, rank, nranks));
        };
    }
    const std::vector<golden::Bytes>& inputs() const { return inputs_; }

private:
    std::vector<golden::Bytes> inputs_;
};

TargetRun carried_out(const RunOptions& options, const std::vector<TargetArray>& inputs) {
    const ReadyRun ready = make_ready(options);
    if (ready.is_refused(options)) refuse(ready.proof);
    for (const TargetArray& input : inputs) buffer_of(input, ready.plans);
    const bool is_rehearsal = inputs.empty() && ready.collective;
    RankWork work = is_rehearsal
                        ? compared_work(ready.target, *ready.collective, ready.plans, options)
                        : given_work(ready, inputs, options.calls);
    work.timeout = options.timeout();
    const Observed observed(ready, work);
    const std::unique_ptr<Runner> runner = make_runner(ready.plans, options);
    const golden::Outcome outcome = runner->run(work);
    TargetRun run;
    if (ready.collective) run.collective = name(ready.collective->kind);
    run.proof = ready.proof.word;
    run.reason = ready.proof.reason;
    run.wrong = outcome.wrong;
    run.seconds = outcome.seconds;
    run.outputs = outputs_of(ready.plans, *runner);
    if (has_data(ready.collective)) run.golden = golden_of(ready, observed.inputs());
    return run;
}

}  // namespace

TargetReport check_target(const TargetRequest& request) {
    CheckRequest check;
    const auto add = [&](Command& command) { add_request_options(command, check); };
    const auto work = [&](const std::vector<OptionFacts>& facts) -> TargetReport {
        check.take_proofs = true;
        prepare(check);
        const std::vector<CheckSubject> subjects = subjects_of(check.command);
        const TargetRuns checked = check_subjects(check, subjects);
        const Run& shown = checked.shown();
        const std::vector<SubjectResult> results = results_of(checked.runs);
        const std::string text = summary_text(results) + findings_text(shown, check) +
                                 redundant_text(results, check.full);
        return {shown.result.last.verdict, said_by_key(text, facts), to_json(results),
                picture_of(shown, check.full)};
    };
    return with_options(request, check.command.target, add, work);
}

std::vector<Plan> plans_of_target(const TargetRequest& request) {
    return with_run_options(request, [](const RunOptions& options) {
        return plans_for(load_target(options.target, options.expect));
    });
}

TargetRun run_target(const TargetRequest& request, const std::vector<TargetArray>& inputs) {
    return with_run_options(
        request, [&](const RunOptions& options) { return carried_out(options, inputs); });
}

}  // namespace peal
