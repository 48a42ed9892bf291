// SPDX-License-Identifier: Apache-2.0
// Plans of other projects: any bytes as one or the other; what is read is valid, and checked within
// bounds.
#include <memory>

#include "foreign/foreign.hpp"
#include "fuzz/target.hpp"
#include "peal/check.hpp"
#include "peal/error.hpp"

namespace {

using namespace peal;  // NOLINT: this file is one function

void carry_through(const std::string& text) {
    const bool is_xml = text.find('<') < text.find('{');
    const auto source = std::make_shared<const Source>(is_xml ? "fuzz.xml" : "fuzz.json", text);
    const foreign::ForeignPlans foreign = foreign::read_plans(source, {});
    validate(foreign.plans);
    const std::optional<Meaning> meaning = foreign::meaning_of(foreign);
    CheckOptions options;
    options.calls = 2;
    options.max_states = 1000;
    options.max_memory_bytes = 64 << 20;
    options.max_seconds = 1;
    check({{&foreign.plans, meaning ? &*meaning : nullptr, {}}}, options);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return peal::fuzz::on_text(data, size, carry_through);
}
