// SPDX-License-Identifier: Apache-2.0
// peal emit: a program as a PTO kernel in C++.
#include <filesystem>

#include <fmt/format.h>

#include "base/file.hpp"
#include "cli/commands.hpp"
#include "cli/pto_target.hpp"
#include "cli/target.hpp"
#include "peal/error.hpp"
#include "peal/pto.hpp"

namespace peal::cli {
namespace {

struct EmitOptions {
    TargetOptions target;
    std::string device = "a2a3";
    std::string output;  // empty: stdout
};

pto::Device device_from(const std::string& name) {
    for (const pto::Device device : {pto::Device::a2a3, pto::Device::a5}) {
        if (pto::name(device) == name) return device;
    }
    throw Error(Fault::usage, fmt::format("--target: expected a2a3 or a5, found '{}'", name));
}

int emit(const EmitOptions& options) {
    const pto::Device device = device_from(options.device);
    if (is_pto_kernel(options.target.target)) {
        throw Error(Fault::usage,
                    fmt::format("{} is a PTO kernel already; expected a collective or file.peal",
                                options.target.target));
    }
    const Target target = resolve(options.target);
    const pto::Emitted emitted = pto::emit(target.program, target.kernel, device);
    if (options.output.empty()) {
        fmt::print("{}", emitted.kernel);
        return kFine;
    }
    const std::filesystem::path kernel = options.output;
    std::filesystem::path shim = kernel;
    shim.replace_filename(kernel.stem().string() + "_orchestration.cpp");
    base::write_text(kernel, emitted.kernel, "kernel");
    base::write_text(shim, emitted.orchestration, "orchestration");
    fmt::print("wrote {} and {}\n", kernel.string(), shim.string());
    fmt::print("arguments:");
    for (const std::string& parameter : emitted.parameters) fmt::print(" --arg '{}'", parameter);
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
    command->add_option("-o,--output", options->output,
                        "the kernel's file; its orchestration shim goes beside it");
    command->footer(
        "Examples:\n"
        "  peal emit allreduce --recipe ring --target a2a3 -o ring.cpp\n"
        "  peal emit examples/mesh_allreduce.peal --target a5 -o mesh.cpp");
    command->callback([options] { return emit(*options); });
}

}  // namespace peal::cli
