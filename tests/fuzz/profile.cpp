// SPDX-License-Identifier: Apache-2.0
// Profiles: whatever is read is written and read again.
#include "comm/profile.hpp"
#include "fuzz/target.hpp"
#include "peal/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        const peal::comm::Table table = peal::comm::table_from_json(text, "fuzz");
        const peal::comm::Table again =
            peal::comm::table_from_json(peal::comm::to_json(table), "fuzz");
        peal::fuzz::require(again.rules == table.rules, "what is written is read as the same");
    } catch (const peal::Error&) {
    }
    return 0;
}
