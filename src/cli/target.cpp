// SPDX-License-Identifier: Apache-2.0
#include "cli/target.hpp"

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file.hpp"
#include "cli/foreign_target.hpp"
#include "cli/pto_target.hpp"
#include "peal/error.hpp"
#include "peal/program.hpp"

namespace peal::cli {
namespace {

constexpr std::uint64_t kMostPlanBytes = std::uint64_t{256} << 20;  // of a file of plans

// "dir/file.peal:kernel" is a file and a kernel; "dir/file.peal" a file.
std::optional<std::pair<std::string, std::string>> split_file(const std::string& text) {
    const auto extension = text.rfind(".peal");
    if (extension == std::string::npos) return std::nullopt;
    const std::string rest = text.substr(extension + 5);
    if (!rest.empty() && rest.front() != ':') return std::nullopt;
    return std::pair(text.substr(0, extension + 5), rest.empty() ? rest : rest.substr(1));
}

const ir::Kernel& pick_kernel(const ir::Program& program, const std::string& path,
                              const std::string& wanted) {
    std::vector<std::string_view> names;
    for (const ir::Kernel& kernel : program.kernels) names.push_back(kernel.name);
    if (names.empty()) bad_usage(fmt::format("{} has no kernel", path));
    if (wanted.empty()) {
        if (names.size() == 1) return program.kernels.front();
        bad_usage(fmt::format("{} has {} kernels; say which: {}:{}", path, names.size(), path,
                              fmt::join(names, fmt::format(" or {}:", path))));
    }
    const ir::Kernel* kernel = program.find(wanted);
    if (!kernel)
        bad_usage(
            fmt::format("{} has no kernel '{}'; it has {}", path, wanted, fmt::join(names, ", ")));
    return *kernel;
}

Target load_program(const TargetOptions& options, ir::Program program, const std::string& title,
                    const std::string& kernel) {
    Target target;
    target.program = std::move(program);
    const ir::Kernel& picked = pick_kernel(target.program, title, kernel);
    target.kernel = picked.name;
    target.bindings = bindings_for(picked, options);
    target.nranks = rank_count(options);
    target.lanes = options.lanes.value_or(1);
    return target;
}

// A file is read for each rank count, and what there is to say of it is said once.
void warn_once(const std::string& text) {
    static std::mutex mutex;
    static std::set<std::string> said;
    const std::lock_guard lock(mutex);
    if (said.insert(text).second) fmt::print(stderr, "{}\n", text);
}

Target load_file(const TargetOptions& options, const std::string& path, const std::string& kernel) {
    std::vector<Diagnostic> warnings;
    ir::Program program = parse_file(path, &warnings);
    for (const Diagnostic& warning : warnings) {
        warn_once(to_text(warning, program.source.get()));
    }
    return load_program(options, std::move(program), path, kernel);
}

// Plans of all ranks, as they are.
Target load_plans(const TargetOptions& options) {
    Target target;
    target.plans = *options.plans;
    if (target.plans.empty()) bad_usage("there are no plans");
    validate(target.plans);
    target.kernel = target.plans.front().kernel;
    target.nranks = static_cast<int>(target.plans.size());
    if (options.ranks && *options.ranks != target.nranks) {
        bad_usage(fmt::format("-n {}: the plans are for {} ranks", *options.ranks, target.nranks));
    }
    return target;
}

}  // namespace

bool is_plan_file(const std::string& target) { return target.ends_with(".json"); }

std::vector<Plan> read_plans(const std::string& path) {
    const std::string text = base::read_text(path, kMostPlanBytes);
    if (text.find("\"format\"") == std::string::npos) {
        throw Error(Fault::program,
                    fmt::format("{}: this is no file of plans: expected a field 'format', as plans "
                                "of Peal have, or 'gpus', as those of MSCCL++ have",
                                path));
    }
    return plans_from_json(text, path);
}

std::string recipe_of(const Target& target) {
    if (!target.collective) return "-";
    const Collective& collective = *target.collective;
    if (collective.recipe != "auto") return collective.recipe;
    const std::uint64_t bytes = collective.count * bytes_of(collective.element);
    return fmt::format("auto: {}", choose_recipe(collective.kind, bytes, target.nranks));
}

namespace {

Target load_named(const TargetOptions& options, const std::string& expect) {
    if (options.program) {
        return load_program(options, *options.program, title_of(options), options.target);
    }
    if (options.plans) return load_plans(options);
    if (is_foreign_file(options.target)) return read_foreign(options, expect);
    if (is_plan_file(options.target)) {
        TargetOptions whole = options;
        whole.plans = std::make_shared<const std::vector<Plan>>(read_plans(options.target));
        return load_plans(whole);
    }
    if (is_pto_kernel(options.target)) {
        if (options.lanes) {
            bad_usage("--lanes is for .peal kernels and recipes; a PTO kernel takes --blocks");
        }
        const TargetOptions whole = with_declared(options);
        return trace_kernel(compile_kernel(whole), whole);
    }
    refuse_pto_options(options);
    if (const auto file = split_file(options.target))
        return load_file(options, file->first, file->second);
    const auto kind = collective_from(options.target);
    if (!kind) {
        std::vector<std::string_view> names;
        for (const CollectiveKind each : kCollectives) names.push_back(name(each));
        bad_usage(fmt::format(
            "'{}' is neither a collective nor a .peal, .cpp or .xml file; collectives are {}",
            options.target, fmt::join(names, ", ")));
    }
    Target target;
    target.nranks = rank_count(options);
    target.collective = collective_for(*kind, options, target.nranks);
    if (options.lanes == 0) {
        bad_usage(fmt::format("--lanes: expected 1..{}, found 0", kMaxLanes));
    }
    target.collective->lanes = options.lanes.value_or(0);
    validate(*target.collective, target.nranks);
    target.lanes = lanes_of(*target.collective);
    target.program = program_of(*target.collective);
    target.kernel = name(*kind);
    target.bindings = bindings_of(*target.collective);
    return target;
}

}  // namespace

Target load_target(const TargetOptions& options, const std::string& expect) {
    Target target = load_named(options, expect);
    put_held(target, options);
    return target;
}

void put_held(Target& target, const TargetOptions& options) {
    if (options.holds.empty() && options.result.empty()) return;
    if (target.collective) {
        bad_usage(
            "--holds and --result are for kernels; a collective works on its window with "
            "--window");
    }
    if (target.foreign) {
        bad_usage(
            "--holds and --result are for kernels; a plan of another project says itself "
            "where its data is");
    }
    target.holds = held_windows(options.holds);
    target.result = options.result;
}

Ports Target::ports(const Collective& as, const std::vector<Plan>& plans) const {
    if (foreign) return foreign->ports;
    return holds.empty() && result.empty() ? ports_of(as, plans.front())
                                           : ports_of(plans.front(), holds, result);
}

std::optional<Meaning> meaning_for(const Target& target,
                                   const std::optional<Collective>& collective,
                                   const std::vector<Plan>& plans) {
    if (target.foreign) return foreign::meaning_of(*target.foreign);
    if (!collective) return std::nullopt;
    return meaning_of(*collective, plans, target.ports(*collective, plans));
}

std::vector<Plan> plans_for(const Target& target, CompileOptions options) {
    if (!target.plans.empty()) return target.plans;
    if (target.is_pto()) return target.traced;
    if (target.foreign) return target.foreign->plans;
    options.lanes = target.lanes;
    return compile(target.program, target.kernel, target.bindings, target.nranks, options);
}

}  // namespace peal::cli
