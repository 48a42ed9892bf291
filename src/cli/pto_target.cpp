// SPDX-License-Identifier: Apache-2.0
#include "cli/pto_target.hpp"

#include <chrono>
#include <filesystem>
#include <mutex>
#include <set>

#include <fmt/format.h>

#include "peal/error.hpp"

namespace peal::cli {
namespace {

// What the well-known kernels move, if nothing else is said.
constexpr std::uint64_t kAllreduceCount = 256;
constexpr std::uint64_t kOtherCount = 64;

constexpr double kMaxTraceSeconds = 1e6;

// Each occurrence takes one value, so that a target may follow.
Option* add_list(Command& command, const std::string& name, std::vector<std::string>& list,
                 const std::string& description) {
    return command.add_option(name, list, description)->one_value_each();
}

void refuse_program_options(const TargetOptions& options) {
    if (!options.settings.empty() && options.arguments.empty()) {
        bad_usage("--set is for .peal kernels; a PTO kernel takes scalars as --arg scalar:7");
    }
    if (options.placement != Placement::separate) {
        bad_usage(
            "--in-place and --window are for collectives; a PTO kernel takes --arg inout:f32[256]");
    }
}

Collective preset_collective(const TargetOptions& options, int nranks) {
    if (options.as.empty()) {
        bad_usage(fmt::format(
            "{}: what are the kernel's arguments? Say --as allreduce (allgather, reduce_scatter, "
            "broadcast, all_to_all), or list them: --arg in:f32[256] --arg out:f32[256] --arg "
            "window:f32[256]+signals:2x16 --arg nranks --arg context",
            options.target));
    }
    const auto kind = collective_from(options.as);
    if (!kind) {
        bad_usage(
            fmt::format("--as: there is no collective '{}'; choose one of allreduce, allgather, "
                        "reduce_scatter, broadcast, all_to_all",
                        options.as));
    }
    Collective collective = collective_for(*kind, options, nranks);
    collective.recipe = "auto";
    collective.count = length_of(options).value_or(0);
    if (collective.count == 0) {
        bad_usage("--count: expected at least 1 element for a PTO kernel, found 0");
    }
    validate(collective, nranks);
    return collective;
}

std::set<std::string> names_in(const std::vector<std::string>& arguments) {
    std::set<std::string> names;
    for (const std::string& text : arguments) names.merge(pto::names_in(text));
    return names;
}

std::uint64_t length_unless_said(const TargetOptions& options) {
    return options.as == name(CollectiveKind::allreduce) ? kAllreduceCount : kOtherCount;
}

// Values for the names in listed arguments: --set, and by custom --count and --root.
Bindings names_of(const TargetOptions& options) {
    const std::set<std::string> used = names_in(options.arguments);
    Bindings names;
    for (const std::string& setting : options.settings) {
        const auto [name, value] = split_setting(setting);
        if (!used.contains(name)) {
            bad_usage(
                fmt::format("--set {}: no argument of the kernel speaks of '{}'", name, name));
        }
        names.integers[name] = integer_setting(name, value);
    }
    const std::uint64_t count = options.count_given ? options.count : length_unless_said(options);
    if (used.contains("n")) names.integers.try_emplace("n", static_cast<std::int64_t>(count));
    if (used.contains("root")) names.integers.try_emplace("root", options.root);
    return names;
}

std::vector<pto::Parameter> listed_parameters(const TargetOptions& options, int nranks,
                                              const Bindings& names) {
    std::vector<pto::Parameter> parameters;
    for (const std::string& text : options.arguments) {
        parameters.push_back(pto::parameter_from(text, nranks, names));
    }
    return parameters;
}

// Kernels run in children that talk over pipes. Another child, started meanwhile, would hold their
// ends open: there is one at a time.
std::mutex& child_mutex() {
    static std::mutex mutex;
    return mutex;
}

pto::TraceOptions trace_options(const TargetOptions& options) {
    if (!(options.trace_seconds > 0 && options.trace_seconds <= kMaxTraceSeconds)) {
        bad_usage(fmt::format("--trace-timeout: expected more than 0 seconds, found {}",
                              options.trace_seconds));
    }
    pto::TraceOptions trace;
    trace.calls = options.calls;
    trace.blocks = options.blocks;
    trace.timeout = std::chrono::ceil<std::chrono::milliseconds>(
        std::chrono::duration<double>(options.trace_seconds));
    return trace;
}

}  // namespace

bool is_pto_kernel(const std::string& target) {
    const std::string extension = std::filesystem::path(target).extension();
    return extension == ".cpp" || extension == ".cc" || extension == ".cxx";
}

void add_pto_options(Command& command, TargetOptions& options) {
    Option* const added[] = {
        add_list(command, "--arg", options.arguments,
                 "an argument, in order: in:f32[256] out:f32[256] inout:... "
                 "window:f32[256]+signals:2x16 scalar:7 nranks rank context generation; sizes may "
                 "use P, the number of ranks"),
        command.add_option("--as", options.as,
                           "arguments, inputs and meaning of allreduce, allgather, reduce_scatter, "
                           "broadcast or all_to_all"),
        command.add_option("--cxx", options.compiler.compiler,
                           "the compiler (default $CXX, or c++)"),
        add_list(command, "-I", options.compiler.include_directories, "a directory with headers"),
        add_list(command, "-D", options.compiler.defines, "a macro: NAME or NAME=value"),
        command.add_option("--blocks", options.blocks,
                           "cores of each rank, which get_block_num() gives (default 1)"),
        command.add_option("--trace-timeout", options.trace_seconds,
                           "seconds that one call of a rank of the kernel may take (default 10)"),
    };
    for (Option* option : added) option->group("PTO kernels");
}

void refuse_pto_options(const TargetOptions& options) {
    const auto refuse = [&](std::string_view option, bool is_given) {
        if (!is_given) return;
        bad_usage(
            fmt::format("{} is for PTO kernels, files that end in .cpp, .cc or .cxx; found '{}'",
                        option, options.target));
    };
    refuse("--arg", !options.arguments.empty());
    refuse("--as", !options.as.empty());
    refuse("--blocks", options.blocks != 1);
    refuse("--cxx", !options.compiler.compiler.empty());
    refuse("-I", !options.compiler.include_directories.empty());
    refuse("-D", !options.compiler.defines.empty());
}

TargetOptions with_declared(TargetOptions options) {
    if (!std::filesystem::is_regular_file(options.target)) return options;  // whoever reads it says
    pto::Declared declared = pto::declared_in(options.target);
    // What the command line says wins: a name's value, and with a list of arguments its names.
    std::set<std::string> said;
    for (const std::string& setting : options.settings) said.insert(split_setting(setting).first);
    if (options.count_given) said.insert("n");
    if (options.root_given) said.insert("root");
    const bool is_listed = !options.arguments.empty();
    const std::set<std::string> used = names_in(options.arguments);
    std::erase_if(declared.settings, [&](const std::string& each) {
        const std::string name = split_setting(each).first;
        return said.contains(name) || (is_listed && !used.contains(name));
    });
    if (!is_listed) options.arguments = std::move(declared.arguments);
    if (options.as.empty()) options.as = std::move(declared.as);
    if (options.op.empty()) options.op = std::move(declared.op);
    options.settings.insert(options.settings.begin(), declared.settings.begin(),
                            declared.settings.end());
    return options;
}

std::optional<std::uint64_t> length_of(const TargetOptions& options) {
    if (options.arguments.empty()) {
        return options.count_given ? options.count : length_unless_said(options);
    }
    const Bindings names = names_of(options);
    const auto found = names.integers.find("n");
    if (found == names.integers.end()) return std::nullopt;
    return static_cast<std::uint64_t>(found->second);
}

pto::Kernel compile_kernel(const TargetOptions& options) {
    refuse_program_options(options);
    const std::lock_guard lock(child_mutex());
    pto::KernelOptions compiler = options.compiler;
    compiler.load_timeout = trace_options(options).timeout;
    return pto::Kernel::compile(options.target, compiler);
}

Target trace_kernel(const pto::Kernel& kernel, const TargetOptions& options) {
    Target target;
    target.kernel = kernel.name();
    target.nranks = rank_count(options);
    const bool is_listed = !options.arguments.empty();
    if (!is_listed) target.said_to_be = preset_collective(options, target.nranks);
    if (is_listed) target.bindings = names_of(options);
    const std::vector<pto::Parameter> parameters =
        is_listed ? listed_parameters(options, target.nranks, target.bindings)
                  : pto::preset(*target.said_to_be, target.nranks);
    const std::lock_guard lock(child_mutex());
    target.traced = pto::trace(kernel, parameters, target.nranks, trace_options(options));
    put_held(target, options);
    if (is_listed && !options.as.empty()) {
        target.said_to_be = expected_collective("--as", options.as, options, target, target.traced);
    }
    return target;
}

}  // namespace peal::cli
