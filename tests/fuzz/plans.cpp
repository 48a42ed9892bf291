// SPDX-License-Identifier: Apache-2.0
// Plans in JSON: whatever is read is written and read again, and checked within bounds.
#include "fuzz/target.hpp"
#include "peal/check.hpp"
#include "peal/error.hpp"

namespace {

using namespace peal;  // NOLINT: this file is one function

void carry_through(const std::string& text) {
    const std::vector<Plan> plans = plans_from_json(text);
    const std::string written = to_json(plans);
    fuzz::require(to_json(plans_from_json(written)) == written,
                  "what is written is read as the same");
    if (plans.empty()) return;
    CheckOptions options;
    options.calls = 2;
    options.max_states = 1000;
    options.max_memory_bytes = 64 << 20;
    options.max_seconds = 1;
    check({{&plans, nullptr, {}}}, options);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return peal::fuzz::on_text(data, size, carry_through);
}
