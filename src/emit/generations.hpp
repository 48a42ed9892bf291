// SPDX-License-Identifier: Apache-2.0
// Generations of signals in an emitted kernel: where one begins, how it moves on within a call.
#pragma once

#include <functional>
#include <string>

#include "emit/cpp.hpp"
#include "emit/steps.hpp"

namespace peal::emit {

// Whether the step, or what is below it, asks for the generation of the signal.
bool uses_generation(const Step& step, const std::string& signal);

// Whether somebody asks for the generation after it has moved on.
bool moves_on(const Steps& steps, const std::string& signal);

// By how much a call moves the generation on, as C++; "" if it does not. `resolve` puts what is
// known where the text goes in the place of names that are not.
using Resolve = std::function<ir::ExprPtr(const ir::ExprPtr& expr)>;
std::string total_advance(const Steps& steps, const std::string& signal, CppText& text,
                          const Resolve& resolve);

}  // namespace peal::emit
