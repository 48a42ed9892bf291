// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <exception>
#include <new>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "peal/error.hpp"

namespace {

int exit_code_for(peal::Fault fault) {
    switch (fault) {
        case peal::Fault::wrong: return peal::cli::kWrong;
        case peal::Fault::bound: return peal::cli::kBoundReached;
        default: return peal::cli::kBadUsage;
    }
}

int run(int argc, char** argv) {
    CLI::App app("Peal: collectives over symmetric windows and signals; proved, run and drawn.");
    app.name("peal");
    app.require_subcommand(1);
    app.set_version_flag("--version", "peal 0.1.0");
    int exit_code = peal::cli::kFine;
    peal::cli::add_run(app, exit_code);
    peal::cli::add_check(app, exit_code);
    peal::cli::add_proofs(app, exit_code);
    peal::cli::add_show(app, exit_code);
    peal::cli::add_emit(app, exit_code);
    peal::cli::add_demo(app, exit_code);
    peal::cli::add_launch(app, exit_code);
    peal::cli::add_bench(app, exit_code);
    peal::cli::add_tune(app, exit_code);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? peal::cli::kFine : peal::cli::kBadUsage;
    }
    return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const peal::Error& error) {
        // A program's diagnostics name their file first; everything else is ours.
        const bool located = error.fault() == peal::Fault::program;
        fmt::print(stderr, "{}{}\n", located ? "" : "peal: ", error.what());
        return exit_code_for(error.fault());
    } catch (const std::bad_alloc&) {
        fmt::print(stderr, "peal: out of memory; use fewer ranks or elements\n");
        return peal::cli::kBadUsage;
    }
}
