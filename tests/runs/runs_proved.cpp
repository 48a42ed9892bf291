// SPDX-License-Identifier: Apache-2.0
// Proves what the engines carried out in the tests before it.
//
//   runs_proved RUNS              begins: the directory is there, and empty
//   runs_proved RUNS NOT_PROVED   ends: each plan that was carried out is proved
//
// A plan is proved as one of a set, the plans of all ranks: three calls in a row, in the order in
// which the engine makes calls, with the results of the collective if it is known to be one.
// NOT_PROVED lists the kernels that tests carry out although they are wrong, each with the reason:
// "kernel", or "kernel@word" for those that a command with that word carries out.
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

CheckReport check_in_order(const std::vector<Plan>& plans, const PlanSet& set) {
    Meaning meaning;
    if (set.collective) meaning = meaning_of(*set.collective, plans);
    std::vector<CheckStage> stages = {{&plans, set.collective ? &meaning : nullptr, {}}};
    CheckReport report = check(stages);
    if (report.verdict == Verdict::proved || set.is_free) return report;
    // All ranks have returned from a call before the next is made: as if they met.
    Collective barrier;
    barrier.kind = CollectiveKind::barrier;
    const std::vector<Plan> meeting = compile(barrier, set.nranks);
    stages.push_back({&meeting, nullptr, {"the end of the call"}});
    return check(stages);
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
            threads.emplace_back([this] { judge_sets(); });
        }
        for (std::thread& thread : threads) thread.join();
        for (const auto& [digest, what] : runs_.carried_out) {
            if (!judged_.count(digest) && !is_excepted(what)) {
                complain(what, "nobody has named the plans of the other ranks");
            }
        }
        fmt::print("{} plans were carried out, of {} sets\n", runs_.carried_out.size(),
                   runs_.sets.size());
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

    void judge_sets() {
        for (std::size_t i = next_++; i < runs_.sets.size(); i = next_++) {
            const PlanSet& set = runs_.sets[i];
            try {
                judge(set, set.plans());
            } catch (const Error& error) {
                complain(fmt::format("a set of {} plans", set.nranks), error.what());
            }
        }
    }

    void judge(const PlanSet& set, const std::vector<Plan>& plans) {
        std::set<std::string> carried_out;
        for (const Plan& plan : plans) {
            std::string digest = peal::digest(plan);
            if (runs_.carried_out.count(digest)) carried_out.insert(std::move(digest));
        }
        if (carried_out.empty()) return;
        const std::string& what = runs_.carried_out.at(*carried_out.begin());
        if (is_excepted(what)) return;
        const CheckReport report = check_in_order(plans, set);
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
