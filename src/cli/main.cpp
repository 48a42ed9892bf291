// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "hosts/messages.hpp"
#include "peal/error.hpp"

namespace {

std::string unwritten(int error) {
    return fmt::format("cannot write to the standard output: {}", std::strerror(error));
}

// What was printed has arrived, or this is no success.
void require_written() {
    errno = 0;
    if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return;
    throw peal::Error(peal::Fault::resource, unwritten(errno ? errno : EIO));
}

int run(int argc, char** argv) {
    peal::cli::CommandLine line(
        "peal", fmt::format("peal {}", peal::hosts::release()),
        "Peal: collectives over symmetric windows and signals; proved, run and drawn.");
    peal::cli::add_run(line);
    peal::cli::add_check(line);
    peal::cli::add_proofs(line);
    peal::cli::add_show(line);
    peal::cli::add_emit(line);
    peal::cli::add_demo(line);
    peal::cli::add_launch(line);
    peal::cli::add_host_side(line);
    peal::cli::add_info(line);
    peal::cli::add_bench(line);
    peal::cli::add_tune(line);
    peal::cli::add_python_path(line);
    const int exit_code = line.run(argc, argv);
    require_written();
    return exit_code;
}

// Does not throw when nobody can be told.
int tell(const std::string& message, int exit_code) {
    std::fputs(message.c_str(), stderr);
    return exit_code;
}

// What nobody thought of.
int tell(const std::exception& error) {
    return tell(fmt::format("peal: {}; this should have been told better: please report it\n",
                            error.what()),
                peal::cli::kBadUsage);
}

int tell(const std::system_error& error) {
    if (!std::ferror(stdout)) return tell(static_cast<const std::exception&>(error));
    return tell(fmt::format("peal: {}\n", unwritten(error.code().value())), peal::cli::kBadUsage);
}

// A file that is opened must not become what we take for an output. Writing to one that is closed
// fails, and is told.
void occupy_standard_descriptors() {
    int descriptor = 0;
    do {
        descriptor = open("/dev/null", O_RDONLY);
    } while (descriptor >= 0 && descriptor <= STDERR_FILENO);
    if (descriptor >= 0) close(descriptor);
}

}  // namespace

int main(int argc, char** argv) {
    occupy_standard_descriptors();
    // A file that grows beyond the limit of the process is an error of whoever writes it. A handler
    // is not inherited by the programs that we start.
    std::signal(SIGXFSZ, [](int) {});
    try {
        return run(argc, argv);
    } catch (const peal::Error& error) {
        // A program's diagnostics name their file first; everything else is ours.
        const bool located = error.fault() == peal::Fault::program;
        return tell(fmt::format("{}{}\n", located ? "" : "peal: ", error.what()),
                    peal::cli::exit_code_for(error.fault()));
    } catch (const std::bad_alloc&) {
        return tell("peal: out of memory; use fewer ranks or elements\n", peal::cli::kBadUsage);
    } catch (const std::system_error& error) {
        return tell(error);
    } catch (const std::exception& error) {
        return tell(error);
    }
}
