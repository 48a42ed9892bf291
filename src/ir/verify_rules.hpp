// SPDX-License-Identifier: Apache-2.0
// The rules of verify(), one function a group.
#pragma once

#include <string>
#include <vector>

#include "peal/diagnostic.hpp"
#include "peal/ir.hpp"

namespace peal::ir {

struct Findings {
    std::vector<Diagnostic> list;
    void error(Span span, std::string message, std::string hint = {});
    void warning(Span span, std::string message, std::string hint = {});
};

// name, type, call
void verify_scopes(const Kernel& kernel, Findings& findings);
// invoke
void verify_invokes(const Kernel& kernel, const Program& program, Findings& findings);
// effect, signal, mixed, alias
void verify_memory(const Kernel& kernel, const Program& program, Findings& findings);
// diverge
void verify_divergence(const Kernel& kernel, const Program& program, Findings& findings);

}  // namespace peal::ir
