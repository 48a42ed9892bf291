// SPDX-License-Identifier: Apache-2.0
// peal python-path: where the Python package is, for PYTHONPATH.
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "peal/error.hpp"

namespace peal::cli {
namespace {

namespace fs = std::filesystem;

// Beside the command where it was built, or where it was installed.
fs::path package_place() {
    const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
    const fs::path installed = (here / PEAL_PYTHON_PLACE).lexically_normal();
    for (const fs::path& place : {here / "python", installed}) {
        if (fs::exists(place / "peal" / "__init__.py")) return place;
    }
    throw Error(
        Fault::resource,
        fmt::format("the Python package is neither in {} nor in {}; `make python` builds it",
                    (here / "python").string(), installed.string()));
}

int print_path(bool compat) {
    const fs::path place = package_place();
    fmt::print("{}", place.string());
    if (compat) fmt::print(":{}", (place / "compat").string());
    fmt::print("\n");
    return kFine;
}

}  // namespace

void add_python_path(CommandLine& line) {
    Command* command =
        line.add_subcommand("python-path", "print where the Python package is, for PYTHONPATH");
    auto compat = std::make_shared<bool>(false);
    command->add_flag("--compat", *compat,
                      "with the packages that stand in for those of other projects");
    command->footer(
        "Examples:\n"
        "  PYTHONPATH=$(peal python-path) python3 prove.py\n"
        "  PYTHONPATH=$(peal python-path --compat) python3 main.py -p a2a3sim -d 0-3");
    command->callback([compat] { return print_path(*compat); });
}

}  // namespace peal::cli
