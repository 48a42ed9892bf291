// SPDX-License-Identifier: Apache-2.0
// Proves what the engines carried out in the tests before it.
//
//   runs_proved RUNS              begins: the directory is there, and empty
//   runs_proved RUNS NOT_PROVED   ends: each plan that was carried out is proved
//
// A plan is proved as one of a set, the plans of all ranks: any number of calls, or three in a row,
// in the order in which the engine makes calls, with the results of the collective if it is known
// to be one. What relies on other calls before it, on zeroed windows or on what they hold is
// written down as such a sequence, and proved as one. NOT_PROVED lists the kernels that tests carry
// out although they are wrong, each with the reason: "kernel", or "kernel@word" for those that a
// command with that word carries out.
#include <algorithm>
#include <atomic>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "peal/check.hpp"
#include "peal/error.hpp"
#include "runs/runs.hpp"

namespace peal::test {
namespace {

std::string first_word(const std::string& line) { return line.substr(0, line.find(' ')); }

std::set<std::string> read_exceptions(const std::string& file) {
    std::set<std::string> kernels;
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);) {
        if (!line.empty() && line[0] != '#') kernels.insert(first_word(line));
    }
    return kernels;
}

CheckReport check_in_order(std::vector<CheckStage> stages, bool is_free, bool is_once) {
    CheckOptions options;
    if (is_once) {
        options.calls = 1;
        options.any_calls = false;
    }
    CheckReport report = check(stages, options);
    if (report.verdict == Verdict::proved || is_free || is_once) return report;
    // All ranks have returned from a call before the next is made: as if they met.
    Collective barrier;
    barrier.kind = CollectiveKind::barrier;
    const std::vector<Plan> meeting =
        compile(barrier, static_cast<int>(stages.front().plans->size()));
    stages.push_back({&meeting, nullptr, {"the end of the call"}});
    return check(stages, options);
}

CheckReport check_in_order(const std::vector<Plan>& plans, const PlanSet& set) {
    Meaning meaning;
    if (set.collective) meaning = meaning_of(*set.collective, plans);
    return check_in_order({{&plans, set.collective ? &meaning : nullptr, {}}}, set.is_free, false);
}

CheckReport check_in_order(const PlanSequence& sequence) {
    std::vector<CheckStage> stages;
    for (const PlanSequence::Call& call : sequence.calls) {
        stages.push_back({&call.plans, nullptr, call.memory, call.holds});
    }
    return check_in_order(std::move(stages), sequence.is_free, sequence.is_once);
}

std::string why_not(const CheckReport& report) {
    if (report.verdict == Verdict::bound) return report.bound;
    const Violation& violation = report.violations.front();
    return fmt::format("{}: {}", name(violation.kind), violation.message);
}

class Judge {
public:
    Judge(Runs runs, std::set<std::string> exceptions)
        : runs_(std::move(runs)), exceptions_(std::move(exceptions)) {}

    // How many are not proved.
    int judge() {
        std::vector<std::thread> threads;
        for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
            threads.emplace_back([this] { judge_all(); });
        }
        for (std::thread& thread : threads) thread.join();
        for (const auto& [digest, what] : runs_.carried_out) {
            if (!judged_.count(digest) && !is_excepted(what)) {
                complain(what, "nobody has named the plans of the other ranks");
            }
        }
        fmt::print("{} plans were carried out, of {} sets and {} sequences\n",
                   runs_.carried_out.size(), runs_.sets.size(), runs_.sequences.size());
        return complaints_;
    }

private:
    // `what` begins with the kernel, and ends with the command.
    bool is_excepted(const std::string& what) const {
        return std::any_of(exceptions_.begin(), exceptions_.end(), [&](const std::string& entry) {
            const std::size_t at = entry.find('@');
            return entry.substr(0, at) == first_word(what) &&
                   (at == std::string::npos || what.find(entry.substr(at + 1)) != what.npos);
        });
    }

    void judge_all() {
        const std::size_t sets = runs_.sets.size();
        const std::size_t all = sets + runs_.sequences.size();
        for (std::size_t i = next_++; i < all; i = next_++) {
            try {
                if (i < sets) {
                    judge(runs_.sets[i], runs_.sets[i].plans());
                } else {
                    judge(runs_.sequences[i - sets]);
                }
            } catch (const Error& error) {
                complain(i < sets ? "a set of plans" : "a sequence of plans", error.what());
            }
        }
    }

    void judge(const PlanSet& set, const std::vector<Plan>& plans) {
        std::set<std::string> carried_out;
        add_carried_out(plans, carried_out);
        judge(std::move(carried_out), [&] { return check_in_order(plans, set); });
    }

    void judge(const PlanSequence& sequence) {
        std::set<std::string> carried_out;
        for (const PlanSequence::Call& call : sequence.calls) {
            add_carried_out(call.plans, carried_out);
        }
        judge(std::move(carried_out), [&] { return check_in_order(sequence); });
    }

    void add_carried_out(const std::vector<Plan>& plans, std::set<std::string>& digests) const {
        for (const Plan& plan : plans) {
            std::string digest = peal::digest(plan);
            if (runs_.carried_out.count(digest)) digests.insert(std::move(digest));
        }
    }

    template <class Check>
    void judge(std::set<std::string> carried_out, const Check& check) {
        if (carried_out.empty()) return;
        const std::string& what = runs_.carried_out.at(*carried_out.begin());
        if (is_excepted(what)) return;
        const CheckReport report = check();
        if (report.verdict != Verdict::proved) complain(what, why_not(report));
        const std::lock_guard lock(mutex_);
        judged_.merge(carried_out);
    }

    void complain(const std::string& what, const std::string& why) {
        const std::lock_guard lock(mutex_);
        ++complaints_;
        fmt::print(stderr, "not proved: {}\n  {}\n", what, why);
    }

    const Runs runs_;
    const std::set<std::string> exceptions_;
    std::atomic<std::size_t> next_ = 0;
    std::mutex mutex_;
    std::set<std::string> judged_;
    int complaints_ = 0;
};

int run(const std::vector<std::string>& arguments) {
    if (arguments.size() == 1) {
        std::filesystem::remove_all(arguments[0]);
        std::filesystem::create_directories(arguments[0]);
        return 0;
    }
    return Judge(read_runs(arguments.at(0)), read_exceptions(arguments.at(1))).judge() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace peal::test

int main(int argc, char** argv) { return peal::test::run({argv + 1, argv + argc}); }
