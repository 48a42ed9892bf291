// SPDX-License-Identifier: Apache-2.0
// What is legal IR, checked after every pass.
//
//   name    names of kernels and parameters are unique; every variable is defined once, before its
//           uses, in scope; shapes use only symbols and scalars
//   type    conditions are booleans, bounds integers; yields match results in number and type
//   call    operands and attributes are what the registry says
//   effect  an `in` parameter is not written, an `out` parameter is not read
//   signal  a window of signals is used by signal operands only
//   mixed   set and add on one signal (warning: allowed, but a set wipes counts)
//   alias   one window or tensor behind two parameters of a call
//   diverge a collective, or an advance, inside control flow that differs between ranks
//   invoke  the kernel exists, arguments fit, no recursion
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "peal/diagnostic.hpp"
#include "peal/ir.hpp"

namespace peal::ir {

// Everything wrong or suspicious, in source order.
std::vector<Diagnostic> verify(const Program& program);

// Throws ProgramError with the errors of verify(program), saying after which step they appeared.
void require_valid(const Program& program, std::string_view after);

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
