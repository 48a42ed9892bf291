// SPDX-License-Identifier: Apache-2.0
// The user's store of proofs beside the checker.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "check/proof_store.hpp"
#include "peal/error.hpp"

namespace peal::checker {
namespace {

void tell_once(const Error& error) {
    static std::once_flag told;
    std::call_once(told,
                   [&] { fmt::print(stderr, "peal: proofs are not kept: {}\n", error.what()); });
}

bool wants_store() {
    const char* variable = std::getenv("PEAL_PROOFS");
    const std::string_view value = variable ? variable : "";
    if (value.empty() || value == "on") return true;
    if (value == "off") return false;
    throw Error(Fault::usage, fmt::format("PEAL_PROOFS: expected on or off, found '{}'", value));
}

std::optional<ProofStore> store_in_use() {
    if (!wants_store()) return std::nullopt;
    try {
        return user_proof_store();
    } catch (const Error& error) {
        tell_once(error);
        return std::nullopt;
    }
}

CheckReport report_of(const ProofRecord& record, const CheckOptions& options, std::size_t stages) {
    CheckReport report;
    report.method = record.method;
    report.calls = options.calls * static_cast<int>(stages);
    report.any_calls = record.subject.calls == 0;
    report.calls_that_fit = record.rounds_that_fit * stages;
    report.any_order = record.subject.memory_order == "any";
    if (record.subject.memory_order == name(MemoryOrder::fenced)) {
        report.order = MemoryOrder::fenced;
    }
    report.events = record.events;
    report.states = record.states;
    return report;
}

std::string kernels_of(const std::vector<CheckStage>& stages) {
    std::vector<std::string_view> kernels;
    for (const CheckStage& stage : stages) kernels.push_back(stage.plans->front().kernel);
    return fmt::format("{}", fmt::join(kernels, ","));
}

std::string results_of(const std::vector<CheckStage>& stages) {
    std::vector<std::string> results;
    for (const CheckStage& stage : stages) results.push_back(result_of(stage.meaning));
    return fmt::format("{}", fmt::join(results, ","));
}

ProofRecord record_of(ProofSubject subject, const std::vector<CheckStage>& stages,
                      const CheckReport& report) {
    using namespace std::chrono;
    ProofRecord record;
    record.subject = std::move(subject);
    record.kernels = kernels_of(stages);
    record.results = results_of(stages);
    if (report.any_calls) {
        record.subject.calls = 0;
        record.rounds_that_fit = report.calls_that_fit / stages.size();
    }
    record.method = report.method;
    record.events = report.events;
    record.states = report.states;
    record.proved_at = duration_cast<seconds>(system_clock::now().time_since_epoch()).count();
    return record;
}

void keep(const ProofStore& store, ProofSubject subject, const std::vector<CheckStage>& stages,
          const CheckReport& report) {
    if (report.verdict != Verdict::proved) return;
    try {
        store.add(record_of(std::move(subject), stages, report));
    } catch (const Error& error) {
        tell_once(error);
    }
}

// Of any number of calls, or of as many as are asked for.
std::optional<ProofRecord> find(const ProofStore& store, const ProofSubject& subject) {
    ProofSubject any = subject;
    any.calls = 0;
    const std::optional<ProofRecord> record = store.find(any);
    const auto asked = static_cast<std::uint64_t>(subject.calls);
    const bool is_enough =
        record && (record->rounds_that_fit == 0 || asked <= record->rounds_that_fit);
    return is_enough ? record : store.find(subject);
}

ProofAnswer found_or_checked(const std::vector<CheckStage>& stages, const CheckOptions& options) {
    const std::optional<ProofStore> store = store_in_use();
    if (!store) return {check(stages, options), false};
    ProofSubject subject = subject_of(stages, options);
    if (const auto record = find(*store, subject)) {
        return {report_of(*record, options, stages.size()), true};
    }
    CheckReport report = check(stages, options);
    keep(*store, std::move(subject), stages, report);
    return {std::move(report), false};
}

}  // namespace

std::optional<CheckReport> find_proof(const std::vector<CheckStage>& stages,
                                      const CheckOptions& options) {
    const std::optional<ProofStore> store = store_in_use();
    if (!store) return std::nullopt;
    const auto record = find(*store, subject_of(stages, options));
    if (!record) return std::nullopt;
    return report_of(*record, options, stages.size());
}

void keep_proof(const std::vector<CheckStage>& stages, const CheckOptions& options,
                const CheckReport& report) {
    if (report.verdict != Verdict::proved) return;
    if (const auto store = store_in_use())
        keep(*store, subject_of(stages, options), stages, report);
}

}  // namespace peal::checker

peal::ProofAnswer peal::check_once(const std::vector<CheckStage>& stages,
                                   const CheckOptions& options) {
    return checker::found_or_checked(stages, options);
}

peal::ProofAnswer peal::check_orders_once(const std::vector<CheckStage>& stages,
                                          CheckOptions options) {
    options.order = MemoryOrder::drained;
    ProofAnswer answer = check_once(stages, options);
    if (answer.report.verdict != Verdict::proved || answer.report.any_order) return answer;
    options.order = MemoryOrder::fenced;
    const ProofAnswer fenced = check_once(stages, options);
    answer.report.any_order = fenced.report.verdict == Verdict::proved;
    answer.from_store &= fenced.from_store;
    return answer;
}
