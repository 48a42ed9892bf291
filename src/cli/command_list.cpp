// SPDX-License-Identifier: Apache-2.0
#include "cli/command_list.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "language/names.hpp"
#include "peal/error.hpp"

namespace peal::cli {
namespace {

// One line for each.
std::string list_of(const std::vector<const CLI::App*>& commands) {
    std::size_t width = 0;
    for (const CLI::App* command : commands) width = std::max(width, command->get_name().size());
    std::string text;
    for (const CLI::App* command : commands) {
        text += fmt::format("  peal {:<{}}  {}\n", command->get_name(), width,
                            command->get_description());
    }
    return text;
}

}  // namespace

void expect_command(const CLI::App& app, int argc, const char* const* argv) {
    const std::vector<const CLI::App*> commands =
        app.get_subcommands([](const CLI::App*) { return true; });
    std::string trouble = "expected a command";
    if (argc > 1) {
        const std::string_view word = argv[1];
        std::vector<std::string_view> names;
        for (const CLI::App* command : commands) names.push_back(command->get_name());
        const bool known = std::find(names.begin(), names.end(), word) != names.end();
        if (known || word.starts_with('-')) return;
        const std::string hint = language::did_you_mean(word, names);
        trouble = fmt::format("there is no command '{}'{}{}", word, hint.empty() ? "" : "; ", hint);
    }
    throw Error(Fault::usage, fmt::format("{}\n\n{}\n`peal COMMAND --help` has its options and "
                                          "examples",
                                          trouble, list_of(commands)));
}

}  // namespace peal::cli
