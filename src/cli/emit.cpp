// SPDX-License-Identifier: Apache-2.0
// peal emit: a program as a PTO kernel in C++.
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "base/file.hpp"
#include "cli/commands.hpp"
#include "cli/pto_target.hpp"
#include "cli/target.hpp"
#include "peal/collective.hpp"
#include "peal/error.hpp"
#include "peal/pto.hpp"

namespace peal::cli {
namespace {

struct EmitOptions {
    TargetOptions target;
    std::string device = "a2a3";
    std::string expect;
    std::string output;  // empty: stdout
};

pto::Device device_from(const std::string& name) {
    for (const pto::Device device : {pto::Device::a2a3, pto::Device::a5}) {
        if (pto::name(device) == name) return device;
    }
    throw Error(Fault::usage, fmt::format("--target: expected a2a3 or a5, found '{}'", name));
}

// What the kernel's source says of itself beside its arguments: its meaning, and values of names.
// n and root have options of their own.
pto::Declared declared_for(const EmitOptions& options, const Target& target) {
    pto::Declared declared;
    declared.settings = options.target.settings;
    if (target.collective) {
        if (!options.expect.empty()) {
            bad_usage("--expect is for .peal kernels; a collective knows its own result");
        }
        declared.as = name(target.collective->kind);
        for (const auto& [name, value] : target.bindings.integers) {
            if (name == "n" || name == "root") continue;
            declared.settings.insert(declared.settings.begin(), fmt::format("{}={}", name, value));
        }
    } else if (!options.expect.empty()) {
        declared.as = name(expected_kind("--expect", options.expect));
    }
    if (!declared.as.empty()) declared.op = options.target.op;
    return declared;
}

// Nobody keeps several windows for an emitted kernel: its calls take parts of one in turn.
void take_sets_in_turn(Target& target) {
    if (!target.collective) return;
    Collective& collective = *target.collective;
    if (reuse_of(collective.kind, collective.recipe) == Reuse::at_once) return;
    collective.sets = 2;
    target.program = program_of(collective);
}

void require_names(const pto::Declared& declared, const std::vector<std::string>& parameters) {
    std::set<std::string> known;
    for (const std::string& parameter : parameters) known.merge(pto::names_in(parameter));
    for (const std::string& setting : declared.settings) {
        const auto [name, value] = split_setting(setting);
        integer_setting(name, value);
        if (known.contains(name)) continue;
        bad_usage(fmt::format("--set {}: no argument of the kernel speaks of '{}'", name, name));
    }
}

int emit(const EmitOptions& options) {
    const pto::Device device = device_from(options.device);
    if (is_pto_kernel(options.target.target)) {
        throw Error(Fault::usage,
                    fmt::format("{} is a PTO kernel already; expected a collective or file.peal",
                                options.target.target));
    }
    const auto kind = collective_from(options.target.target);
    if (kind && knows_hosts(*kind, options.target.recipe)) {
        throw Error(Fault::usage,
                    fmt::format("{}: recipe {} is for ranks on several hosts, and what "
                                "is emitted is for the devices of one",
                                name(*kind), options.target.recipe));
    }
    Target target = load_target(options.target);
    take_sets_in_turn(target);
    const pto::Declared declared = declared_for(options, target);
    const pto::Emitted emitted = pto::emit(target.program, target.kernel, device, declared);
    require_names(declared, emitted.parameters);
    if (options.output.empty()) {
        fmt::print("{}", emitted.kernel);
        return kFine;
    }
    if (options.output == "-") {
        throw Error(Fault::usage, "-o -: a file is expected; without -o the kernel is printed");
    }
    const std::filesystem::path kernel = options.output;
    std::filesystem::path shim = kernel;
    shim.replace_filename(kernel.stem().string() + "_orchestration.cpp");
    base::write_text(kernel, emitted.kernel, "kernel");
    base::write_text(shim, emitted.orchestration, "orchestration");
    fmt::print("wrote {} and {}\n", kernel.string(), shim.string());
    fmt::print("its arguments, which peal check, run and show read from it:");
    for (const std::string& parameter : emitted.parameters) fmt::print(" {}", parameter);
    fmt::print("\n");
    return kFine;
}

}  // namespace

void add_emit(CommandLine& line) {
    Command* command = line.add_subcommand("emit", "write a program as a PTO kernel in C++");
    auto options = std::make_shared<EmitOptions>();
    command->add_option("program", options->target.target, "a collective, or file.peal[:kernel]")
        ->required();
    command->add_option("--target", options->device, "the device: a2a3 or a5 (default a2a3)");
    command->add_option("--recipe,--algo", options->target.recipe,
                        "recipe of a collective (default auto)");
    command->add_option("--dtype", options->target.element,
                        "f16 bf16 f32 i8 i16 i32 u8 (default f32)");
    command->add_option("--op", options->target.op, "sum prod max min (default sum)");
    command->add_option("--expect", options->expect,
                        "the collective that a .peal kernel computes; the file says so");
    command->add_option("--set", options->target.settings,
                        "symbol or scalar: name=value; the file says so");
    command->add_option("-o,--output", options->output,
                        "the kernel's file; its orchestration shim goes beside it");
    command->footer(
        "Examples:\n"
        "  peal emit allreduce --recipe ring --target a2a3 -o ring.cpp\n"
        "  peal emit examples/mesh_allreduce.peal --target a5 -o mesh.cpp");
    command->callback([options] { return emit(*options); });
}

}  // namespace peal::cli
