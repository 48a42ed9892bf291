// SPDX-License-Identifier: Apache-2.0
// Programs: whatever parses is printed, parsed again, lowered and compiled, within bounds.
#include "fuzz/target.hpp"
#include "peal/compile.hpp"
#include "peal/error.hpp"
#include "peal/program.hpp"

namespace {

using namespace peal;  // NOLINT: this file is one function

constexpr std::int64_t kLength = 7;  // of every symbol
constexpr int kRanks = 3;

Bindings bindings_of(const ir::Kernel& kernel) {
    Bindings bindings;
    for (const ir::VarPtr& symbol : ir::symbols_of(kernel))
        bindings.integers[symbol->name] = kLength;
    return bindings;
}

void carry_through(std::string_view text) {
    const ir::Program program =
        parse(std::make_shared<const Source>("fuzz.peal", std::string(text)));
    const std::string printed = print(program);
    const ir::Program again = parse(std::make_shared<const Source>("printed.peal", printed));
    fuzz::require(print(again) == printed, "what is printed is read as the same");
    CompileOptions options;
    options.max_instructions = 1000;
    for (const ir::Kernel& kernel : program.kernels) {
        try {
            compile(program, kernel.name, bindings_of(kernel), kRanks, options);
        } catch (const Error&) {
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return peal::fuzz::on_text(data, size, carry_through);
}
