// SPDX-License-Identifier: Apache-2.0
// peal bench: how long collectives take here, without anybody to compare with.
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands.hpp"
#include "cli/measure.hpp"
#include "cli/table.hpp"
#include "comm/profile.hpp"
#include "peal/error.hpp"

namespace peal::cli {
namespace {

struct BenchCommand {
    std::string collective = "allreduce";
    int nranks = 2;
    std::vector<std::string> bytes = {"8", "256", "4096", "65536", "1048576", "16777216"};
    bool on_window = false;
};

[[noreturn]] void reject_bench(const std::string& message) {
    throw Error(Fault::usage, fmt::format("bench: {}", message));
}

std::vector<CollectiveKind> kinds_of(const BenchCommand& command) {
    std::vector<CollectiveKind> kinds;
    for (const CollectiveKind kind : kCollectives) {
        const bool wanted = command.collective == "all" || command.collective == name(kind);
        if (wanted && (!command.on_window || is_called_on_windows(kind))) kinds.push_back(kind);
    }
    if (!kinds.empty()) return kinds;
    if (collective_from(command.collective)) {
        reject_bench(fmt::format("--window: {} is not called on windows", command.collective));
    }
    std::vector<std::string_view> names;
    for (const CollectiveKind kind : kCollectives) names.push_back(name(kind));
    reject_bench(fmt::format("there is no collective '{}'; there are {}, and 'all'",
                             command.collective, fmt::join(names, ", ")));
}

std::uint64_t parse_bytes(const std::string& text) {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
    std::uint64_t bytes = 0;
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, bytes);
    if (error != std::errc() || stopped != end || bytes == 0 || bytes > kMost) {
        reject_bench(
            fmt::format("--bytes: expected numbers from 1 to {}, found '{}'", kMost, text));
    }
    return bytes;
}

std::vector<Load> loads_of(const BenchCommand& command) {
    std::vector<Load> loads;
    for (const CollectiveKind kind : kinds_of(command)) {
        for (const std::string& bytes : command.bytes) {
            loads.push_back(
                {kind, command.on_window, count_for(kind, parse_bytes(bytes), command.nranks)});
            if (!facts_of(kind).has_data()) break;  // all sizes are the same
        }
    }
    return loads;
}

std::vector<std::string> row_of(const Load& load, const Timing& timing, int nranks) {
    const std::uint64_t bytes = input_bytes(load, nranks);
    const double gigabytes = static_cast<double>(bytes) * 1e-9;
    return {std::string(name(load.kind)),
            std::to_string(nranks),
            std::to_string(bytes),
            std::string(recipes(load.kind)[timing.recipe].name),
            fmt::format("{:.2f}", timing.median * 1e6),
            fmt::format("{:.2f}", timing.least * 1e6),
            bytes == 0 ? "-" : fmt::format("{:.3f}", gigabytes / timing.median)};
}

int bench(const BenchCommand& command) {
    if (command.nranks < 1 || command.nranks > kMaxRanks) {
        reject_bench(fmt::format("-n: expected 1..{} ranks, found {}", kMaxRanks, command.nranks));
    }
    const std::vector<Load> loads = loads_of(command);
    const std::vector<Timing> timings = measure(command.nranks, loads, {});
    std::vector<std::vector<std::string>> rows = {
        {"collective", "ranks", "bytes", "recipe", "median us", "min us", "GB/s"}};
    for (std::size_t i = 0; i < loads.size(); ++i) {
        rows.push_back(row_of(loads[i], timings[i], command.nranks));
    }
    fmt::print("{}profile: {}\n", to_table(rows), comm::applicable_table().origin);
    return kFine;
}

}  // namespace

void add_bench(CommandLine& line) {
    auto command = std::make_shared<BenchCommand>();
    Command* bencher =
        line.add_subcommand("bench", "measure collectives between processes of this machine");
    bencher->add_option("collective", command->collective, "which, or 'all' (default allreduce)");
    bencher->add_option("-n", command->nranks, "how many ranks (default 2)");
    bencher
        ->add_option("--bytes", command->bytes,
                     "input of one rank, for example 8,4096 (default 8 B to 16 MiB)")
        ->delimiter(',');
    bencher->add_flag("--window", command->on_window, "with the data in windows");
    bencher->footer(
        "Calls are float32, and sums where there is a reduction; warm buffers. A time is that of "
        "the\nslowest rank; GB/s is the bytes over the median.\n\n"
        "Examples:\n"
        "  peal bench allreduce -n 2\n"
        "  peal bench all -n 4 --bytes 8,65536\n"
        "  peal bench allreduce --window --bytes 1048576");
    bencher->callback([command] { return bench(*command); });
}

}  // namespace peal::cli
