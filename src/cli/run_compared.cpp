// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/proof_json.hpp"
#include "cli/run.hpp"
#include "cli/runner.hpp"
#include "cli/table.hpp"

namespace peal::cli {
namespace {

std::string title_of(const Target& target, const Collective& collective) {
    return target.collective ? target.kernel
                             : fmt::format("{} as {}", target.kernel, name(collective.kind));
}

void print_result(const Target& target, const Collective& collective, const Proof& proof,
                  const golden::Outcome& outcome, const RunOptions& options) {
    const std::string golden = outcome.wrong ? "WRONG" : "ok";
    const std::string op(has_reduction(collective.kind) ? name(collective.op) : "-");
    if (options.json) {
        nlohmann::ordered_json json = {{"target", title_of(target, collective)},
                                       {"recipe", recipe_of(target)},
                                       {"ranks", target.nranks},
                                       {"elements", collective.count},
                                       {"dtype", name(collective.element)},
                                       {"op", op},
                                       {"calls", options.calls},
                                       {"golden", golden},
                                       {"proof", proof.word},
                                       {"seconds", outcome.seconds}};
        add_proof(json, proof);
        if (outcome.wrong) json["difference"] = *outcome.wrong;
        fmt::print("{}\n", json.dump(2));
        return;
    }
    fmt::print("{}",
               to_table({{"collective", "recipe", "ranks", "elements", "type", "op", "calls",
                          "golden", "proof", "time"},
                         {title_of(target, collective), recipe_of(target),
                          std::to_string(target.nranks), std::to_string(collective.count),
                          std::string(name(collective.element)), op, std::to_string(options.calls),
                          golden, proof.word, duration_text(outcome.seconds)}}));
}

}  // namespace

void add_proof(nlohmann::ordered_json& json, const Proof& proof) {
    if (!proof.result.empty()) json["proof_result"] = proof.result;
    if (!proof.from.empty()) json["proof_from"] = proof.from;
    if (!proof.order.empty()) json["memory_order"] = proof.order;
}

golden::RankWork compared_work(const Target& target, const Collective& collective,
                               const std::vector<Plan>& plans, const RunOptions& options) {
    const Ports ports = target.ports(collective, plans);
    RankWork work = with_held(golden::rehearsal_of(plans, collective, ports, options.calls), plans,
                              target.holds, ports.input);
    work.timeout = options.timeout();
    return work;
}

int run_compared(const Target& target, const Collective& collective, const std::vector<Plan>& plans,
                 const Proof& proof, const RunOptions& options) {
    const RankWork work = compared_work(target, collective, plans, options);
    const golden::Outcome outcome = make_runner(plans, options)->run(work);
    print_result(target, collective, proof, outcome, options);
    if (outcome.wrong) fmt::print(stderr, "peal: wrong result: {}\n", *outcome.wrong);
    return outcome.wrong ? kWrong : kFine;
}

}  // namespace peal::cli
