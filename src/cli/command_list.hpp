// SPDX-License-Identifier: Apache-2.0
// What `peal` says to who names no command of it.
#pragma once

namespace CLI {
class App;
}

namespace peal::cli {

// Throws Error(usage) with the nearest name and the list of all, unless the first argument is a
// command or an option.
void expect_command(const CLI::App& app, int argc, const char* const* argv);

}  // namespace peal::cli
