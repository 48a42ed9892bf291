// SPDX-License-Identifier: Apache-2.0
// Programs as text: .peal in, IR out, and back.
#pragma once

#include <string>
#include <vector>

#include "peal/diagnostic.hpp"
#include "peal/ir.hpp"
#include "peal/source.hpp"

namespace peal {

// Parses and verifies. Throws ProgramError with every error found. `warnings`, if given, receives
// what is legal but suspicious.
ir::Program parse(SourcePtr source, std::vector<Diagnostic>* warnings = nullptr);
ir::Program parse_file(const std::string& path, std::vector<Diagnostic>* warnings = nullptr);

// The text of a program. parse(print(p)) equals p, before and after every pass.
std::string print(const ir::Program& program);
std::string print(const ir::Kernel& kernel);
std::string print(const ir::ExprPtr& expr);
std::string print(const ir::Type& type);

}  // namespace peal
