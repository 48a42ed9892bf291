// SPDX-License-Identifier: Apache-2.0
#include "check/proof_store.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>

#include "base/cache_directory.hpp"
#include "base/file.hpp"

namespace peal::checker {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".json";
constexpr std::uintmax_t kMostBytes = 1 << 20;  // more is no record

std::optional<ProofRecord> record_in(const fs::path& place) {
    std::error_code error;
    const std::uintmax_t bytes = fs::file_size(place, error);
    if (error || bytes > kMostBytes || !base::is_own_file(place)) return std::nullopt;
    std::string text(bytes, '\0');
    std::ifstream file(place, std::ios::binary);
    if (!file.read(text.data(), static_cast<std::streamsize>(bytes))) return std::nullopt;
    return proof_record_from(text);
}

bool is_record_name(const fs::path& place) { return place.extension() == kEnding; }

// What others add or remove meanwhile may or may not be seen.
std::vector<fs::path> files_in(const fs::path& directory) {
    std::vector<fs::path> files;
    std::error_code error;
    for (fs::directory_iterator at(directory, error), end; !error && at != end;
         at.increment(error)) {
        files.push_back(at->path());
    }
    return files;
}

bool removed(const fs::path& file) {
    std::error_code error;
    return fs::remove(file, error) && !error;
}

}  // namespace

ProofStore::ProofStore(fs::path directory, std::size_t most)
    : directory_(std::move(directory)), most_(most) {
    base::make_private_directories(directory_);  // or it is there, which is looked at now
    base::require_private(directory_);
}

fs::path ProofStore::place_of(const ProofSubject& subject) const {
    return directory_ / (key_of(subject) + std::string(kEnding));
}

std::optional<ProofRecord> ProofStore::find(const ProofSubject& subject) const {
    std::optional<ProofRecord> record = record_in(place_of(subject));
    if (record && record->subject != subject) return std::nullopt;
    return record;
}

void ProofStore::add(const ProofRecord& record) const {
    base::write_text(place_of(record.subject), to_text(record), "proof");
    drop_oldest();
}

// When there are too many, an eighth goes, so that not every addition has to look for the oldest.
// What a process that died left half written goes, too, when nobody can be writing it any more.
void ProofStore::drop_oldest() const {
    const std::vector<fs::path> files = files_in(directory_);
    if (files.size() <= most_) return;
    const auto being_written = fs::file_time_type::clock::now() - std::chrono::hours(1);
    std::vector<std::pair<fs::file_time_type, fs::path>> by_age;
    for (const fs::path& file : files) {
        std::error_code error;
        const fs::file_time_type time = fs::last_write_time(file, error);
        if (error || (!is_record_name(file) && time > being_written)) continue;
        by_age.emplace_back(time, file);
    }
    std::sort(by_age.begin(), by_age.end());
    const std::size_t kept = most_ - most_ / 8;
    for (std::size_t i = 0; i + kept < by_age.size(); ++i) removed(by_age[i].second);
}

std::vector<ProofRecord> ProofStore::list() const {
    std::vector<ProofRecord> records;
    for (const fs::path& file : files_in(directory_)) {
        if (!is_record_name(file)) continue;
        auto record = record_in(file);
        if (record && place_of(record->subject) == file) records.push_back(*std::move(record));
    }
    std::sort(records.begin(), records.end(), [](const ProofRecord& a, const ProofRecord& b) {
        if (a.proved_at != b.proved_at) return a.proved_at > b.proved_at;
        return key_of(a.subject) < key_of(b.subject);
    });
    return records;
}

// What is being written stays: it is its writer's.
std::size_t ProofStore::clear() const {
    std::size_t count = 0;
    for (const fs::path& file : files_in(directory_)) {
        if (is_record_name(file) && removed(file)) ++count;
    }
    return count;
}

ProofStore user_proof_store() { return ProofStore(base::cache_directory() / "proofs"); }

}  // namespace peal::checker
