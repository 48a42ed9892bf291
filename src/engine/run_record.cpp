// SPDX-License-Identifier: Apache-2.0
#include "engine/run_record.hpp"

#ifndef PEAL_RECORD_RUNS

namespace peal::engine {

bool records_runs() { return false; }
void record_run(const Plan&) {}
void record_set(const std::vector<Plan>&, CallOrder) {}
void record_set(const std::vector<Plan>&, CallOrder, const Collective&) {}
void record_compiled(const std::vector<Plan>&, CallOrder, const Collective&) {}
void record_compiled(int, CallOrder, const Collective&, const std::vector<std::int64_t>&) {}
void record_sequence(const std::vector<RecordedCall>&, CallOrder, Times, bool) {}

}  // namespace peal::engine

#else

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/digest.hpp"
#include "base/file.hpp"

namespace peal::engine {
namespace {

namespace fs = std::filesystem;

const char* directory() { return std::getenv("PEAL_RECORD_RUNS"); }

// One write to the end of a file, which no other process gets between. But for last_meant nothing
// is remembered here, so that threads and forks need no care.
void append(const fs::path& place, const std::string& line) {
    const int file = open(place.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0) return;
    [[maybe_unused]] const ssize_t written = write(file, line.data(), line.size());
    close(file);
}

// The command that carries it out: of a test it has the name.
std::string command() {
    std::string text;
    std::getline(std::ifstream("/proc/self/cmdline"), text);
    std::replace(text.begin(), text.end(), '\0', ' ');
    return text.substr(0, 200);
}

const char* name(CallOrder order) { return order == CallOrder::free ? "free" : "together"; }

// Of the whole collective, in the order of its members (tests/runs/ reads it back).
std::string spec_of(const Collective& collective) {
    const auto& [kind, recipe, element, op, count, root, counts, sent_at, received_at, placement,
                 stage_bytes, hosts, sets, lanes] = collective;
    return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", static_cast<int>(kind),
                       recipe, static_cast<int>(element), static_cast<int>(op), count, root,
                       static_cast<int>(placement), stage_bytes, sets, lanes, hosts.size(),
                       fmt::join(hosts, " "), fmt::join(counts, " "), fmt::join(sent_at, " "),
                       fmt::join(received_at, " "));
}

std::string set_of(const std::vector<Plan>& plans) {
    base::Digest set;
    for (const Plan& plan : plans) set.add(digest(plan));
    return set.text();
}

// Of the plans, and of what they are meant to do: the same plans may be meant to do different
// things.
std::string name_of(const std::string& set, const std::string& spec = "-") {
    return set + "." + base::Digest().add(spec).text();
}

// What this thread last said of a set: which set, and what it does. Who is then given it knows the
// same or less, and writing plans takes longer than carrying them out.
struct Meant {
    std::string set, spec;
    bool operator==(const Meant&) const = default;
};
thread_local Meant last_meant;

template <class TextOf>
void write_once(const std::string& name, CallOrder order, TextOf&& text_of) {
    const fs::path place = fs::path(directory()) / (name + "." + engine::name(order));
    if (!fs::exists(place)) base::write_text(place, text_of(), "record of runs");
}

// All of them are lines of one file: they are many, short, and mostly written once.
void write_compiled(const std::string& set, int nranks, CallOrder order,
                    const std::vector<std::int64_t>& hosts, const std::string& spec) {
    append(fs::path(directory()) / "compiled",
           fmt::format("{} {} {} {} {} {}\n", set, name(order), nranks, hosts.size(),
                       fmt::join(hosts, " "), spec));
}

}  // namespace

bool records_runs() { return directory() != nullptr; }

void record_run(const Plan& plan) {
    if (!records_runs()) return;
    static const std::string who = command();
    append(fs::path(directory()) / "runs",
           fmt::format("{} {} {} {} {}\n", digest(plan), plan.kernel, plan.rank, plan.nranks, who));
}

// A file has the number of ranks, the collective or "-", and the plans.

void record_set(const std::vector<Plan>& plans, CallOrder order) {
    if (!records_runs()) return;
    const std::string set = set_of(plans);
    if (set == last_meant.set) return;
    write_once(name_of(set), order,
               [&] { return fmt::format("{}\n-\n{}", plans.size(), to_json(plans)); });
}

void record_set(const std::vector<Plan>& plans, CallOrder order, const Collective& collective) {
    if (!records_runs()) return;
    const Meant meant{set_of(plans), spec_of(collective)};
    if (meant == last_meant) return;
    last_meant = meant;
    write_once(name_of(meant.set, meant.spec), order,
               [&] { return fmt::format("{}\n{}\n{}", plans.size(), meant.spec, to_json(plans)); });
}

void record_compiled(const std::vector<Plan>& plans, CallOrder order,
                     const Collective& collective) {
    if (!records_runs()) return;
    last_meant = {set_of(plans), spec_of(collective)};
    write_compiled(last_meant.set, static_cast<int>(plans.size()), order, {}, last_meant.spec);
}

void record_compiled(int nranks, CallOrder order, const Collective& collective,
                     const std::vector<std::int64_t>& hosts) {
    if (!records_runs()) return;
    const std::string spec = spec_of(collective);
    const std::string what = fmt::format("{} {} {}", nranks, fmt::join(hosts, ","), spec);
    write_compiled(base::Digest().add(what).text(), nranks, order, hosts, spec);
}

// A file of a sequence: how often, how many calls, and of each the names of its memory, what its
// windows hold, and the plans, lists and text with their lengths before them.
void record_sequence(const std::vector<RecordedCall>& calls, CallOrder order, Times times,
                     bool instead) {
    if (!records_runs()) return;
    std::string text = fmt::format("{} {} {}\n", times == Times::once ? "once" : "again",
                                   name(order), calls.size());
    const auto add_line = [&](const std::string& line) { text += line + "\n"; };
    for (const RecordedCall& call : calls) {
        const std::string plans = to_json(*call.plans);
        add_line(fmt::format("{} {} {}", call.memory.size(), call.holds.size(), plans.size()));
        for (const std::string& name : call.memory) add_line(name);
        for (const auto& [window, what] : call.holds) add_line(what + " " + window);
        text += plans;
    }
    const fs::path place = fs::path(directory()) / (name_of(set_of(*calls.at(0).plans), text) +
                                                    (instead ? ".instead" : ".sequence"));
    if (!fs::exists(place)) base::write_text(place, text, "record of runs");
}

}  // namespace peal::engine

#endif
