// SPDX-License-Identifier: Apache-2.0
// From a program to a PTO kernel in C++: the contents page.
#include <fmt/format.h>

#include "emit/frame.hpp"
#include "emit/kernel_text.hpp"
#include "emit/phases.hpp"
#include "peal/compile.hpp"
#include "peal/error.hpp"
#include "peal/pto.hpp"
#include "plan/resolved.hpp"

namespace peal::pto {

using namespace emit;  // NOLINT: its parts in order

Emitted emit(const ir::Program& program, std::string_view kernel, Device device,
             const Declared& more) {
    const ir::Program lowered = lower(program);
    const ir::Kernel* found = lowered.find(kernel);
    if (!found) throw Error(Fault::usage, fmt::format("there is no kernel '{}'", kernel));
    if (plan::resolve(lowered, kernel).asks_lane) {
        throw Error(Fault::usage,
                    fmt::format("kernel {} asks for `lane`: an emitted kernel has one lane; choose "
                                "a recipe without lanes, or write the kernel without `lane`",
                                kernel));
    }
    const Trouble trouble(lowered.source.get());
    const Frame frame(lowered, *found, trouble);
    const ir::Kernel tidied = tidy(*found);
    const Facts facts(tidied);
    DeviceProgram steps = build_steps(tidied, facts, trouble);
    place_tiles(steps, device, trouble);
    insert_flags(steps, facts, device);
    return {heading_of(frame, device, more) + print_kernel(steps, frame, facts, trouble),
            frame.orchestration(), frame.parameter_texts()};
}

}  // namespace peal::pto
