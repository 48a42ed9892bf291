// SPDX-License-Identifier: Apache-2.0
#include "peal/driver.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "driver/address_book.hpp"
#include "driver/member.hpp"
#include "driver/unit.hpp"
#include "peal/error.hpp"
#include "worker/devices.hpp"

namespace peal {
class Driver::Impl {
public:
    explicit Impl(DriverOptions options) : options_(std::move(options)), worker_(options_.worker) {}

    DriverDomain allocate_domain(const std::vector<int>& chips, std::uint64_t bytes) {
        if (bytes == 0) throw Error(Fault::usage, "a domain's window has at least one byte");
        return book_.add(worker_, chips, bytes).shown;
    }
    void release_domain(std::uint64_t id) {
        if (pending_.empty()) return book_.release(id);
        released_.push_back(id);
    }

    std::uint64_t allocate(int chip, std::uint64_t bytes) {
        const Tensor memory = worker_.alloc(chip, Element::u8, {bytes});
        book_.add(memory);
        return reinterpret_cast<std::uint64_t>(memory.data());
    }
    void free(std::uint64_t address) { book_.free(address); }

    void copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
        if (!pending_.empty()) {
            throw Error(Fault::usage, "copies come before the first task of a run");
        }
        for (const std::uint64_t address : {to, from}) expect_within(address, bytes);
        std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
    }

    void submit(const DriverTask& task) {
        const std::string& name = task.callable.program->name;
        if (task.chips.empty() || task.chips.size() != task.arguments.size()) {
            throw Error(Fault::usage,
                        fmt::format("{}: expected the arguments of {} chips, found {}", name,
                                    task.chips.size(), task.arguments.size()));
        }
        for (const int chip : task.chips) {
            if (chip < 0 || chip >= worker_.ranks()) {
                throw Error(Fault::usage, fmt::format("{}: expected chips 0..{}, found {}", name,
                                                      worker_.ranks() - 1, chip));
            }
            if (std::count(task.chips.begin(), task.chips.end(), chip) > 1) {
                throw Error(Fault::usage, fmt::format("{}: chip {} is named twice", name, chip));
            }
        }
        std::vector<driver::Member> members;
        for (std::size_t m = 0; m < task.chips.size(); ++m) {
            members.push_back(driver::bind_member(book_, task, m, nodes_));
            for (const driver::KnownMemory& memory : members.back().memories) {
                if (!memory.domain || !used_.contains(memory.domain->shown.id)) continue;
                throw Error(Fault::usage,
                            fmt::format("{}: its domain was used by tasks that have run; what they "
                                        "left in its signals is not known to the proof: allocate "
                                        "another one",
                                        name));
            }
        }
        std::move(members.begin(), members.end(), std::back_inserter(pending_));
        ++nodes_;
    }

    void start() {
        try {
            carry_out();
        } catch (...) {
            end();
            throw;
        }
    }

    bool wait_for(std::chrono::nanoseconds limit) {
        const auto deadline = std::chrono::steady_clock::now() + limit;
        for (const Task& task : tasks_) {
            try {
                if (!task.wait_for(deadline - std::chrono::steady_clock::now())) return false;
            } catch (...) {
                if (!failure_) failure_ = std::current_exception();
            }
        }
        end();
        return true;
    }

    void wait() {
        for (const Task& task : tasks_) {
            try {
                task.wait();
            } catch (...) {
                if (!failure_) failure_ = std::current_exception();
            }
        }
        end();
    }

    void stop() {
        if (!tasks_.empty()) worker_.restart();
        failure_ = nullptr;
        end();
    }

    DriverSummary summary() const { return summary_; }
    void close() { worker_.close(); }

private:
    // Nothing is left to do.
    void end() {
        tasks_.clear();
        pending_.clear();
        nodes_ = 0;
        for (const std::uint64_t id : std::exchange(released_, {})) book_.release(id);
        if (worker_.state() == WorkerState::failed) worker_.restart();
        if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    }

    // Where a member is found among what is prepared.
    struct UnitStage {
        std::shared_ptr<const driver::Unit> unit;
        std::size_t stage = 0;
    };

    void expect_within(std::uint64_t address, std::uint64_t bytes) const {
        book_.device_memory(address, bytes);
        const auto window = book_.window_at(address);
        if (!window || window->offset + bytes <= window->domain->bytes) return;
        throw Error(Fault::usage,
                    fmt::format("bytes [{}..{}) of a window of {} bytes", window->offset,
                                window->offset + bytes, window->domain->bytes));
    }

    // By submitted task, those that it waits for: the last that wrote bytes that it reads.
    std::vector<std::vector<std::size_t>> order() const {
        std::vector<std::vector<std::size_t>> after(nodes_);
        for (std::size_t m = 0; m < pending_.size(); ++m) {
            for (const driver::Touched& touched : pending_[m].touched) {
                if (!touched.waits) continue;
                for (std::size_t e = 0; e < m; ++e) {
                    if (pending_[e].node == pending_[m].node) continue;
                    const auto writes = [&](const driver::Touched& other) {
                        return other.writes && other.begin < touched.end &&
                               touched.begin < other.end;
                    };
                    const auto& others = pending_[e].touched;
                    if (std::any_of(others.begin(), others.end(), writes)) {
                        after[pending_[m].node].push_back(pending_[e].node);
                    }
                }
            }
        }
        return after;
    }

    void carry_out() {
        const std::vector<std::vector<std::size_t>> after = order();
        std::vector<const driver::Member*> with_windows;
        std::unordered_map<const driver::Member*, UnitStage> prepared;
        std::vector<std::string> wrong;
        for (const driver::Member& member : pending_) {
            if (member.has_windows()) {
                with_windows.push_back(&member);
            } else {
                prepared[&member] = {unit_of({{{&member}, false}}, wrong), 0};
            }
        }
        if (!with_windows.empty()) {
            const std::vector<driver::Stage> stages =
                driver::stages_of(with_windows, worker_.ranks(), after);
            const auto unit = unit_of(stages, wrong);
            if (unit->is_checked) driver::expect_zeroed(stages, *unit);
            for (std::size_t s = 0; s < stages.size(); ++s) {
                for (const driver::Member* member : stages[s].members) {
                    if (member) prepared[member] = {unit, s};
                }
            }
        }
        expect_proved(wrong);
        for (const driver::Member* member : with_windows) {
            for (const driver::KnownMemory& memory : member->memories) {
                if (memory.domain) used_.insert(memory.domain->shown.id);
            }
        }
        hand_over(prepared, after);
    }

    std::shared_ptr<const driver::Unit> unit_of(const std::vector<driver::Stage>& stages,
                                                std::vector<std::string>& wrong) {
        std::shared_ptr<const driver::Unit>& unit = units_[driver::key_of(stages)];
        const bool is_new = unit == nullptr;
        if (is_new) {
            unit = driver::prepare(
                stages, {worker::rules_of(options_.worker.platform), options_.max_seconds,
                         options_.pages, options_.check != DriverCheck::off});
            if (unit->is_checked) count(unit->report);
        }
        const bool is_told = !is_new && options_.check == DriverCheck::warn;
        if (!unit->finding.empty() && !is_told) wrong.push_back(unit->finding);
        return unit;
    }

    void count(const CheckReport& report) {
        switch (report.verdict) {
            case Verdict::proved:
                ++summary_.proved;
                if (!report.any_order) ++summary_.proved_if_drained;
                return;
            case Verdict::violated: ++summary_.refuted; return;
            case Verdict::bound: ++summary_.undecided; return;
        }
    }

    void expect_proved(const std::vector<std::string>& wrong) const {
        if (wrong.empty()) return;
        if (options_.check == DriverCheck::error) throw Error(Fault::wrong, wrong.front());
        for (const std::string& finding : wrong)
            std::fprintf(stderr, "peal: %s\n", finding.c_str());
    }

    // Each chip does its tasks in the order in which they were submitted: that is what was proved.
    void hand_over(const std::unordered_map<const driver::Member*, UnitStage>& prepared,
                   const std::vector<std::vector<std::size_t>>& after) {
        std::vector<std::vector<Task>> last(static_cast<std::size_t>(worker_.ranks()));
        std::vector<std::vector<Task>> tasks(nodes_);
        for (const driver::Member& member : pending_) {
            const UnitStage& found = prepared.at(&member);
            const driver::PreparedStage& stage = found.unit->stages[found.stage];
            std::vector<Task>& before = last[static_cast<std::size_t>(member.chip)];
            TaskOptions how;
            how.after = before;
            for (const std::size_t node : after[member.node]) {
                how.after.insert(how.after.end(), tasks[node].begin(), tasks[node].end());
            }
            const Task task =
                worker_.submit(stage.kernel, member.chip, arguments_of(member, stage), how);
            before = {task};
            tasks[member.node].push_back(task);
            tasks_.push_back(task);
        }
    }

    Arguments arguments_of(const driver::Member& member, const driver::PreparedStage& stage) {
        Arguments arguments;
        // A task without windows has a plan of its own, whatever chip it is for.
        const bool is_alone = stage.plans.size() == 1;
        const auto& created = stage.created[is_alone ? 0 : static_cast<std::size_t>(member.chip)];
        const std::vector<Buffer>& buffers = stage.plans[0].buffers;
        for (std::size_t b = 0; b < buffers.size(); ++b) {
            const std::size_t place = stage.memory_of[b];
            if (place >= member.memories.size()) {
                const std::uint64_t bytes = created[place - member.memories.size()];
                const Element element = buffers[b].element;
                arguments.emplace_back(
                    worker_.alloc(member.chip, element, {bytes / bytes_of(element)}));
                continue;
            }
            const driver::KnownMemory& memory = member.memories[place];
            if (!memory.domain) {
                arguments.emplace_back(memory.tensor);
                continue;
            }
            const DomainWindow window = memory.domain->domain.window(driver::AddressBook::kWindow);
            arguments.emplace_back(buffers[b].kind == BufferKind::signal ? window.as_signals()
                                                                         : window);
        }
        return arguments;
    }

    DriverOptions options_;
    Worker worker_;
    driver::AddressBook book_;
    std::vector<driver::Member> pending_;
    std::size_t nodes_ = 0;
    std::vector<std::uint64_t> released_;  // domains, when the run is over
    std::set<std::uint64_t> used_;         // domains whose windows are no longer fresh
    std::vector<Task> tasks_;              // that have begun
    std::exception_ptr failure_;           // of the first of them that failed
    std::unordered_map<std::string, std::shared_ptr<const driver::Unit>> units_;
    DriverSummary summary_;
};

Driver::Driver(DriverOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Driver::~Driver() = default;

DriverDomain Driver::allocate_domain(const std::vector<int>& chips, std::uint64_t bytes) {
    return impl_->allocate_domain(chips, bytes);
}
void Driver::release_domain(std::uint64_t id) { impl_->release_domain(id); }
std::uint64_t Driver::allocate(int chip, std::uint64_t bytes) {
    return impl_->allocate(chip, bytes);
}
void Driver::free(std::uint64_t address) { impl_->free(address); }
void Driver::copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
    impl_->copy(to, from, bytes);
}
void Driver::submit(const DriverTask& task) { impl_->submit(task); }
void Driver::start() { impl_->start(); }
void Driver::wait() { impl_->wait(); }
bool Driver::wait_for(std::chrono::nanoseconds limit) { return impl_->wait_for(limit); }
void Driver::run() {
    start();
    wait();
}
void Driver::stop() { impl_->stop(); }
DriverSummary Driver::summary() const { return impl_->summary(); }
void Driver::close() { impl_->close(); }

}  // namespace peal
