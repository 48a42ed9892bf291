// SPDX-License-Identifier: Apache-2.0
#include "cli/check_jobs.hpp"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "check/static_rules.hpp"
#include "cli/foreign_target.hpp"
#include "cli/pto_target.hpp"
#include "collectives/catalogue.hpp"
#include "peal/error.hpp"
#include "plan/notes.hpp"

namespace peal::cli {
namespace {

constexpr std::string_view kManyCounts = "P+1, 4P+3, 1, P-1, 0";

int parse_rank_count(const std::string& text, const std::string& whole) {
    int value = 0;
    std::stringstream stream(text);
    if (!(stream >> value) || !stream.eof() || value < 1 || value > kMaxRanks) {
        bad_usage(
            fmt::format("-n '{}': expected numbers of ranks (1..{}) or ranges: 4, 2..16 or 2,4,8",
                        whole, kMaxRanks));
    }
    return value;
}

// One entry of a list: a number or a range.
void add_ranks(std::vector<int>& ranks, const std::string& entry, const std::string& whole) {
    const auto dots = entry.find("..");
    const int first = parse_rank_count(entry.substr(0, dots), whole);
    const int last =
        dots == std::string::npos ? first : parse_rank_count(entry.substr(dots + 2), whole);
    if (last < first) bad_usage(fmt::format("-n '{}': the range runs backwards", whole));
    for (int n = first; n <= last; ++n) {
        if (std::find(ranks.begin(), ranks.end(), n) == ranks.end()) ranks.push_back(n);
    }
}

// Without --count: lengths that are empty, tiny, uneven and several chunks long.
std::vector<std::uint64_t> counts_for(const TargetOptions& options, int nranks) {
    if (options.count_given) return {options.count};
    const auto p = static_cast<std::uint64_t>(nranks);
    // An ordinary length first: it makes the clearest counterexample.
    return {p + 1, 4 * p + 3, 1, p - 1, 0};
}

void add_points(CheckSubject& subject, const std::vector<int>& ranks, bool has_length) {
    for (const int nranks : ranks) {
        if (!has_length) {
            subject.points.emplace_back(nranks, 0);
            continue;
        }
        for (const std::uint64_t count : counts_for(subject.options, nranks)) {
            subject.points.emplace_back(nranks, count);
        }
    }
    if (!has_length) return;
    subject.counts =
        subject.options.count_given ? std::to_string(subject.options.count) : kManyCounts;
}

std::vector<CheckSubject> collective_subjects(const CheckCommand& command, CollectiveKind kind,
                                              const std::vector<int>& ranks) {
    const bool has_forms =
        !facts_of(kind).is_counted() || offers(kind, "auto", command.target.placement);
    const Placement placement = has_forms ? command.target.placement : Placement::separate;
    std::vector<std::string> names = {command.target.recipe};
    const bool wants_all = command.target.recipe == "all";
    if (wants_all) {
        names.clear();
        for (const Recipe& recipe : recipes(kind)) {
            if (offers(kind, recipe.name, placement)) names.emplace_back(recipe.name);
        }
        for (const auto& entry : collectives::entries_of_hosts(kind)) {
            const bool is_offered = offers(kind, entry.row.name, placement);
            if (is_offered && !command.target.hosts.empty()) names.emplace_back(entry.row.name);
        }
    }
    std::vector<CheckSubject> subjects;
    for (const std::string& recipe : names) {
        CheckSubject subject;
        subject.what = name(kind);
        subject.recipe =
            knows_hosts(kind, recipe) ? fmt::format("{} {}", recipe, command.target.hosts) : recipe;
        subject.options = command.target;
        subject.options.target = name(kind);
        subject.options.recipe = recipe;
        subject.options.placement = placement;
        if (wants_all && !has_lanes(kind, recipe)) subject.options.lanes.reset();
        add_points(subject, ranks, facts_of(kind).has_data());
        subjects.push_back(std::move(subject));
    }
    return subjects;
}

// A kernel has lengths to vary when its symbol n is left open.
bool has_open_length(const TargetOptions& options) {
    const Target target = load_target(options);
    const auto symbols = ir::symbols_of(*target.program.find(target.kernel));
    const bool has_n = std::any_of(symbols.begin(), symbols.end(),
                                   [](const ir::VarPtr& symbol) { return symbol->name == "n"; });
    const bool is_set = std::any_of(options.settings.begin(), options.settings.end(),
                                    [](const std::string& s) { return s.rfind("n=", 0) == 0; });
    return has_n && !is_set;
}

// A collective that runs before: the default recipe, of the same size and type where that applies.
void add_earlier(CheckJob& job, const CheckCommand& command, const std::string& text,
                 const CompileOptions& making) {
    const auto colon = text.find(':');
    const auto kind = collective_from(text.substr(0, colon));
    if (!kind)
        bad_usage(
            fmt::format("--after: there is no collective '{}'; write a name or name:recipe", text));
    TargetOptions options = command.target;
    options.recipe = colon == std::string::npos ? "auto" : text.substr(colon + 1);
    options.count = job.count;
    options.settings.clear();
    options.placement = Placement::separate;
    const Collective collective = collective_for(*kind, options, job.nranks);
    job.calls.add(collective, compile(collective, job.nranks, making));
}

bool gathers(const Plan& plan) {
    return std::any_of(plan.instructions.begin(), plan.instructions.end(), [](const auto& each) {
        return std::holds_alternative<Accumulate>(each.action);
    });
}

// The same bits are claimed where the checker compares the order, or where it does not matter.
Claim claim_of(const Collective& collective, const Meaning& meaning,
               const std::vector<Plan>& plans) {
    Claim claim{std::string(name(collective.kind)), ""};
    if (!facts_of(collective.kind).reduces) return claim;
    const bool is_open =
        is_float(collective.element) && std::any_of(plans.begin(), plans.end(), gathers);
    claim.order = meaning.same_bits && !is_open ? "same bits" : "any order";
    return claim;
}

// Whether a value of the plan is another one in the next call.
bool counts_calls(const Plan& plan) {
    return std::any_of(plan.instructions.begin(), plan.instructions.end(), [](const auto& each) {
        const auto* notify = std::get_if<Notify>(&each.action);
        const auto* wait = std::get_if<Wait>(&each.action);
        return (notify && notify->value.per_generation != 0) ||
               (wait && wait->value.per_generation != 0);
    });
}

void forget_shapes(std::vector<Plan>& plans) {
    for (Plan& plan : plans) {
        if (!plan.notes) continue;
        plan::PlanNotes notes = *plan.notes;
        notes.shapes.clear();
        plan.notes = std::make_shared<const plan::PlanNotes>(std::move(notes));
    }
}

// A kernel, or plans of a file, and what it should compute, if anything is said of that.
void add_kernel(CheckJob& job, const Target& target, const std::optional<Collective>& collective,
                std::vector<Plan> plans) {
    std::optional<Meaning> meaning = meaning_for(target, collective, plans);
    if (meaning) job.claim = claim_of(*collective, *meaning, plans);
    job.holds = target.holds;
    job.calls.add_held(std::move(plans), std::move(meaning), target.holds);
}

// Plans as they are, from a file or at hand.
bool are_plans(const TargetOptions& options) {
    return options.plans || (!options.program && is_plan_file(options.target));
}

// Plans that are there are for so many ranks, and no others can be checked.
void check_ranks_asked(const CheckCommand& command, int nranks) {
    if (command.ranks.empty()) return;
    const std::vector<int> asked = parse_ranks(command.ranks);
    if (std::find(asked.begin(), asked.end(), nranks) != asked.end()) return;
    bad_usage(fmt::format("-n {}: the plans are for {} ranks", command.ranks, nranks));
}

CheckJob plan_file_job(const CheckCommand& command) {
    CheckJob job;
    std::vector<Plan> plans =
        command.target.plans ? *command.target.plans : read_plans(command.target.target);
    if (plans.empty()) bad_usage(fmt::format("{} has no plans", title_of(command.target)));
    checker::plan_violations({{&plans, nullptr, {}}});  // or the ranks have no meaning together
    Target target;
    target.nranks = job.nranks = static_cast<int>(plans.size());
    check_ranks_asked(command, target.nranks);
    put_held(target, command.target);
    std::optional<Collective> collective;
    if (!command.expect.empty()) {
        collective = expected_collective("--expect", command.expect, command.target, target, plans);
    }
    add_kernel(job, target, collective, std::move(plans));
    return job;
}

// What a file of another project says of itself is believed but for the orders: those are told.
CheckJob foreign_job(const CheckCommand& command) {
    if (!command.after.empty()) {
        bad_usage("--after is for collectives and kernels; a plan has windows of its own");
    }
    const Target target = read_foreign(command.target, command.expect);
    check_ranks_asked(command, target.nranks);
    CheckJob job;
    job.nranks = target.nranks;
    job.count = target.foreign->count;
    const std::vector<Plan>& plans = target.foreign->plans;
    std::optional<Meaning> meaning = foreign::meaning_of(*target.foreign);
    if (target.foreign->collective)
        job.claim = claim_of(*target.foreign->collective, *meaning, plans);
    job.calls.add_alternating(plans, meaning, target.foreign->alternating);
    if (meaning && meaning->same_bits && command.expect.empty()) {
        meaning->same_bits = false;
        job.any_order.emplace().add_alternating(plans, meaning, target.foreign->alternating);
    }
    return job;
}

}  // namespace

std::vector<int> parse_ranks(const std::string& text) {
    std::vector<int> ranks;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t comma = std::min(text.find(',', begin), text.size());
        add_ranks(ranks, text.substr(begin, comma - begin), text);
        begin = comma + 1;
    }
    return ranks;
}

namespace {

std::vector<int> ranks_of(const CheckCommand& command) {
    const auto hosts = static_cast<int>(hosts_of(command.target).size());
    if (command.ranks.empty()) return {hosts > 0 ? hosts : kDefaultRanks};
    return parse_ranks(command.ranks);
}

}  // namespace

std::vector<CheckSubject> subjects_of(const CheckCommand& command) {
    const std::vector<int> ranks = ranks_of(command);
    const std::string& target = command.target.target;
    std::vector<CheckSubject> subjects;
    const auto add = [&](CollectiveKind kind) {
        for (CheckSubject& subject : collective_subjects(command, kind, ranks)) {
            subjects.push_back(std::move(subject));
        }
    };
    const bool is_named = !command.target.program && !command.target.plans;
    if (is_named && target == "all") {
        for (const CollectiveKind kind : kCollectives) add(kind);
        return subjects;
    }
    if (const auto kind = collective_from(target); kind && is_named) {
        add(*kind);
        return subjects;
    }
    CheckSubject subject;
    subject.what = title_of(command.target);
    subject.recipe = "-";
    subject.options = command.target;
    if (is_named && is_foreign_file(target)) {
        const Target foreign = read_foreign(command.target, command.expect);
        const std::uint64_t count = foreign.foreign->count;
        if (count > 0) subject.counts = std::to_string(count);
        subject.is_foreign = true;
        subject.points.emplace_back(0, count);  // the file knows
    } else if (are_plans(command.target)) {
        refuse_pto_options(command.target);
        subject.points.emplace_back(0, 0);  // the file knows
    } else if (is_pto_kernel(target)) {
        subject.options = with_declared(command.target);
        subject.pto_kernel = compile_kernel(subject.options);
        const std::optional<std::uint64_t> count = length_of(subject.options);
        if (count) subject.counts = std::to_string(*count);
        for (const int nranks : ranks) subject.points.emplace_back(nranks, count.value_or(0));
    } else {
        subject.options.ranks = ranks.front();
        add_points(subject, ranks, has_open_length(subject.options));
    }
    return {subject};
}

std::uint64_t count_on(const CheckSubject& subject, std::pair<int, std::uint64_t> point,
                       int nranks) {
    if (subject.counts != kManyCounts) return point.second;
    const std::vector<std::uint64_t> there = counts_for(subject.options, point.first);
    const auto at = std::find(there.begin(), there.end(), point.second) - there.begin();
    return counts_for(subject.options, nranks)[static_cast<std::size_t>(at)];
}

CheckJob make_job(const CheckCommand& command, const CheckSubject& subject, int nranks,
                  std::uint64_t count, std::chrono::steady_clock::time_point deadline) {
    if (subject.is_foreign) return foreign_job(command);
    if (are_plans(command.target)) return plan_file_job(command);
    CheckJob job;
    job.nranks = nranks;
    job.count = count;
    CompileOptions making;
    making.deadline = deadline;
    for (const std::string& earlier : command.after) add_earlier(job, command, earlier, making);
    TargetOptions options = subject.options;
    options.ranks = nranks;
    options.count = count;
    const Target target =
        subject.pto_kernel ? trace_kernel(*subject.pto_kernel, options) : load_target(options);
    std::vector<Plan> plans = plans_for(target, making);
    job.lanes = target.lanes;
    job.has_generations = target.is_pto() && std::any_of(plans.begin(), plans.end(), counts_calls);
    if (command.bytes) forget_shapes(plans);
    const auto collective = collective_of(target, options, command.expect, plans);
    if (!target.collective) {
        add_kernel(job, target, collective, std::move(plans));
        return job;
    }
    job.claim = claim_of(*collective, meaning_of(*collective, plans), plans);
    job.calls.add(*collective, std::move(plans));
    return job;
}

}  // namespace peal::cli
