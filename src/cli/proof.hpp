// SPDX-License-Identifier: Apache-2.0
// A proof beside a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "peal/check.hpp"
#include "peal/collective.hpp"
#include "peal/compile.hpp"
#include "peal/plan.hpp"

namespace peal::cli {

struct Proof {
    std::string word =
        "-";             // for a table: "proved", the kind of a violation, "bound", "-": not tried
    std::string reason;  // when it did not prove
    int exit_code = 0;
    std::string from;   // when it proved: "store" or "checked"
    std::string order;  // when it was tried: "drained" or "fenced", or "any": both are the same
    std::string result = {};  // when it proved: the collective, or "protocol only"
};

// Checks the plans with these options; those with pipes on their device, and then as this machine
// runs them (plan/for_host.hpp). What stands in the user's store of proofs is not checked again;
// other than that, unless `thorough`, only what takes no noticeable time is.
// `meaning` is what they mean, or nothing; calls use the buffers that alternate in turn. Warnings
// are left to `peal check`. What proves under `drained` is tried under `fenced`, too, if no order
// is asked for; it is proved either way, as this machine gives more than `drained`.
Proof prove(const std::vector<Plan>& plans, const std::optional<Meaning>& meaning, bool thorough,
            CheckOptions options, std::optional<MemoryOrder> order = {},
            const std::vector<std::uint16_t>& alternating = {},
            const std::vector<Held>& holds = {});

// --no-store: proofs are neither taken from the user's store nor put there.
Option* add_store_option(Command& command);

}  // namespace peal::cli
