// SPDX-License-Identifier: Apache-2.0
// peal proofs: what has been proved and need not be proved again.
#include <memory>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "check/proof_store.hpp"
#include "cli/commands.hpp"
#include "cli/table.hpp"

namespace peal::cli {
namespace {

constexpr std::size_t kShortDigest = 12;

struct ProofsOptions {
    bool clear = false;
    bool json = false;
};

std::string when(std::int64_t seconds) {
    return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

std::string calls_text(const checker::ProofSubject& subject) {
    return subject.calls == 0 ? "any" : std::to_string(subject.calls);
}

std::string table_of(const std::vector<checker::ProofRecord>& records) {
    std::vector<std::vector<std::string>> rows = {
        {"digest", "kernel", "result", "ranks", "calls", "method", "work", "when"}};
    for (const checker::ProofRecord& record : records) {
        const bool explored = record.method == CheckMethod::exploration;
        // Numbers are set to the right, digests are not.
        rows.push_back({record.subject.digest.substr(0, kShortDigest) + "...", record.kernels,
                        record.results, std::to_string(record.subject.ranks),
                        calls_text(record.subject), std::string(name(record.method)),
                        explored ? fmt::format("{} states", record.states)
                                 : fmt::format("{} events", record.events),
                        when(record.proved_at)});
    }
    return to_table(rows);
}

std::string json_of(const std::vector<checker::ProofRecord>& records) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const checker::ProofRecord& record : records) {
        list.push_back(nlohmann::ordered_json::parse(to_text(record)));
    }
    return list.dump(2);
}

int proofs(const ProofsOptions& options) {
    const checker::ProofStore store = checker::user_proof_store();
    const std::string place = store.directory().string();
    if (options.clear) {
        const std::size_t count = store.clear();
        fmt::print("cleared {} proof{} in {}\n", count, count == 1 ? "" : "s", place);
        return kFine;
    }
    const std::vector<checker::ProofRecord> records = store.list();
    if (options.json) {
        fmt::print("{}\n", json_of(records));
    } else if (records.empty()) {
        fmt::print("no proofs in {}\n", place);
    } else {
        fmt::print("{}", table_of(records));
    }
    return kFine;
}

}  // namespace

void add_proofs(CommandLine& line) {
    Command* command = line.add_subcommand("proofs", "list what has been proved, or forget it");
    auto options = std::make_shared<ProofsOptions>();
    Option* clear = command->add_flag("--clear", options->clear, "forget all of it");
    command->add_flag("--json", options->json, "all that is written down, as JSON")
        ->excludes(clear);
    command->footer(
        "Proofs are in proofs/ of the cache directory ($PEAL_CACHE, or peal/ in the user's "
        "cache);\n"
        "run and check put them there, run takes them from there. --no-store and PEAL_PROOFS=off\n"
        "leave them alone.\n"
        "Examples:\n"
        "  peal proofs\n"
        "  peal proofs --json\n"
        "  peal proofs --clear");
    command->callback([options] { return proofs(*options); });
}

}  // namespace peal::cli
