// SPDX-License-Identifier: Apache-2.0
#include "check/proof_record.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/digest.hpp"
#include "check/digest.hpp"
#include "check/static_rules.hpp"

namespace peal::checker {
namespace {

using RecordJson = nlohmann::ordered_json;

constexpr std::int64_t kEndOfDates = 253'402'300'799;  // the last second of the year 9999

// Of the names that there are; any other is no answer of the checker's.
CheckMethod method_from(std::string_view text) {
    for (const CheckMethod method : {CheckMethod::linear, CheckMethod::exploration}) {
        if (name(method) == text) return method;
    }
    throw RecordJson::other_error::create(0, "no such method", nullptr);
}

ProofRecord record_from(const RecordJson& json) {
    ProofRecord record;
    ProofSubject& subject = record.subject;
    json.at("digest").get_to(subject.digest);
    json.at("meanings").get_to(subject.meanings);
    json.at("ranks").get_to(subject.ranks);
    json.at("calls").get_to(subject.calls);
    const RecordJson& device = json.at("device");
    device.at("tile_bytes").get_to(subject.device.tile_bytes);
    device.at("tile_alignment").get_to(subject.device.tile_alignment);
    device.at("one_outstanding_load").get_to(subject.device.one_outstanding_load);
    json.at("strict_loads").get_to(subject.strict_loads);
    json.at("memory_order").get_to(subject.memory_order);
    json.at("checker").get_to(subject.checker);
    json.at("kernels").get_to(record.kernels);
    json.at("results").get_to(record.results);
    json.at("rounds_that_fit").get_to(record.rounds_that_fit);
    record.method = method_from(json.at("method").get<std::string>());
    json.at("events").get_to(record.events);
    json.at("states").get_to(record.states);
    json.at("proved_at").get_to(record.proved_at);
    return record;
}

}  // namespace

ProofSubject subject_of(const std::vector<CheckStage>& stages, const CheckOptions& options) {
    checker::require_well_formed(stages);
    ProofSubject subject;
    subject.digest = checker::digest(stages);
    std::vector<std::string> meanings;
    for (const CheckStage& stage : stages) {
        meanings.push_back(stage.meaning ? checker::digest(*stage.meaning) : "none");
    }
    subject.meanings = fmt::format("{}", fmt::join(meanings, ","));
    subject.ranks = static_cast<int>(stages.front().plans->size());
    subject.calls = options.calls;
    subject.device = options.device;
    subject.strict_loads = options.strict_loads;
    if (orders_differ(stages)) subject.memory_order = name(options.order);
    return subject;
}

std::string result_of(const Meaning* meaning) { return meaning ? meaning->name : "protocol only"; }

std::string key_of(const ProofSubject& subject) {
    const auto& [digest, meanings, ranks, calls, device, strict_loads, memory_order, checker] =
        subject;
    const auto& [tile_bytes, tile_alignment, one_outstanding_load] = device;
    base::Digest key;
    key.add(digest).add(meanings).add(memory_order);
    for (const int number : {ranks, calls, checker}) key.add(static_cast<std::uint64_t>(number));
    key.add(tile_bytes).add(tile_alignment);
    key.add(std::uint64_t{one_outstanding_load}).add(std::uint64_t{strict_loads});
    return key.text();
}

std::string to_text(const ProofRecord& record) {
    const ProofSubject& subject = record.subject;
    const RecordJson json = {{"digest", subject.digest},
                             {"kernels", record.kernels},
                             {"results", record.results},
                             {"meanings", subject.meanings},
                             {"ranks", subject.ranks},
                             {"calls", subject.calls},
                             {"rounds_that_fit", record.rounds_that_fit},
                             {"device",
                              {{"tile_bytes", subject.device.tile_bytes},
                               {"tile_alignment", subject.device.tile_alignment},
                               {"one_outstanding_load", subject.device.one_outstanding_load}}},
                             {"strict_loads", subject.strict_loads},
                             {"memory_order", subject.memory_order},
                             {"method", name(record.method)},
                             {"events", record.events},
                             {"states", record.states},
                             {"checker", subject.checker},
                             {"proved_at", record.proved_at}};
    // Names come from anywhere, and need not be UTF-8.
    return json.dump(-1, ' ', false, RecordJson::error_handler_t::replace) + "\n";
}

std::optional<ProofRecord> proof_record_from(std::string_view text) {
    try {
        ProofRecord record = record_from(RecordJson::parse(text));
        const bool has_date = record.proved_at >= 0 && record.proved_at <= kEndOfDates;
        if (record.subject.checker != kCheckerVersion || !has_date) return std::nullopt;
        return record;
    } catch (const RecordJson::exception&) {
        return std::nullopt;
    }
}

}  // namespace peal::checker
