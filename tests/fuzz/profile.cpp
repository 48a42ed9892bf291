// SPDX-License-Identifier: Apache-2.0
// Profiles: whatever is read is written and read again.
#include "comm/profile.hpp"
#include "fuzz/target.hpp"

namespace {

using namespace peal;  // NOLINT

void carry_through(const std::string& text) {
    const comm::Table table = comm::table_from_json(text, "fuzz");
    const comm::Table again = comm::table_from_json(comm::to_json(table), "fuzz");
    fuzz::require(again.rules == table.rules, "what is written is read as the same");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz::on_text(data, size, carry_through);
}
