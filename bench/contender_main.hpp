// SPDX-License-Identifier: Apache-2.0
// The life of a rank: it waits for orders, asleep, measures, and answers.
#pragma once

#include <string>

#include "contender.hpp"

namespace peal::bench {

// Where the driver listens, and where the ranks of this contender meet. Both lie in the directory
// that the driver gives as the first argument.
std::string socket_path(const std::string& directory);
std::string hall_path(const std::string& directory);

// Connects to the driver and carries out orders until it hangs up. Returns the exit status.
int serve(Contender& contender, const std::string& directory);

}  // namespace peal::bench
