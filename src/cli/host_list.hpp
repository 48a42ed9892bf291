// SPDX-License-Identifier: Apache-2.0
// Which ranks are on which host.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace peal::cli {

// A block of ranks.
struct HostShare {
    std::string host;
    int first = 0, count = 0;
};

// "a,b" spreads the ranks evenly, the first hosts having one more; "a:3,b:5" fills 3 places on a
// and then 5 on b. A host with colons in its name is in brackets. Hosts that get no rank are left
// out. Throws Error(usage).
std::vector<HostShare> shares_of(std::string_view hosts, int nranks);

}  // namespace peal::cli
