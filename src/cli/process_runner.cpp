// SPDX-License-Identifier: Apache-2.0
#include "cli/process_runner.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <deque>

#include "cli/commands.hpp"
#include "peal/error.hpp"

namespace peal::cli {

SharedPages::SharedPages(std::size_t bytes) : bytes_(std::max<std::size_t>(bytes, 1)) {
    void* pages = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) {
        throw Error(Fault::resource, fmt::format("cannot share {} bytes with the ranks: {}", bytes_,
                                                 std::strerror(errno)));
    }
    base_ = static_cast<std::byte*>(pages);
}

SharedPages::~SharedPages() { munmap(base_, bytes_); }

struct ProcessRunner::Note {
    double seconds;   // of its fastest call
    char wrong[400];  // "": nothing
};

namespace {

using Clock = std::chrono::steady_clock;

// A rank's windows and signals, and what its kernel is given.
class Belongings {
public:
    Belongings(Communicator& comm, const Plan& plan, ProcessRunner& runner) {
        for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
            const Buffer& buffer = plan.buffers[b];
            if (buffer.kind == BufferKind::argument) {
                std::byte* memory = runner.argument(plan.rank, b);
                own_.push_back(memory);
                arguments_.emplace_back(Memory{memory, buffer.elements(), buffer.element});
            } else {
                windows_.push_back(buffer.kind == BufferKind::signal
                                       ? comm.signals(buffer.cells, buffer.cell_stride)
                                       : comm.window<std::uint8_t>(buffer.bytes));
                own_.push_back(windows_.back().on(plan.rank));
                arguments_.emplace_back(windows_.back());
            }
        }
    }

    std::span<const KernelArgument> arguments() const { return arguments_; }
    std::byte* own(std::size_t buffer) const { return own_[buffer]; }

private:
    std::deque<WindowMemory> windows_;
    std::vector<std::byte*> own_;
    std::vector<KernelArgument> arguments_;
};

}  // namespace

ProcessRunner::ProcessRunner(const std::vector<Plan>& plans) : plans_(plans) {
    std::size_t end = plans.size() * sizeof(Note);
    for (const Plan& plan : plans) {
        std::vector<std::size_t>& offsets = offsets_.emplace_back();
        for (const Buffer& buffer : plan.buffers) {
            end = whole_lines(end);
            offsets.push_back(end);
            end += buffer.bytes;
        }
    }
    pages_.emplace(end);
}

std::byte* ProcessRunner::argument(int rank, std::size_t buffer) {
    return pages_->at(offsets_[static_cast<std::size_t>(rank)][buffer]);
}

ProcessRunner::Note& ProcessRunner::note(int rank) const {
    return *reinterpret_cast<Note*>(pages_->at(static_cast<std::size_t>(rank) * sizeof(Note)));
}

golden::Outcome ProcessRunner::run(const RankWork& work) {
    const auto nranks = static_cast<int>(plans_.size());
    const int status =
        Communicator::fork(nranks, [&](Communicator& comm) { carry_out(comm, work); });
    if (status != 0) {
        throw Error(status == kBadUsage ? Fault::usage : Fault::wrong,
                    fmt::format("the run failed: the worst rank ended with status {}", status));
    }
    golden::Outcome outcome;
    for (int rank = 0; rank < nranks; ++rank) {
        const Note& said = note(rank);
        outcome.seconds = std::max(outcome.seconds, said.seconds);
        if (said.wrong[0] != '\0' && !outcome.wrong) outcome.wrong = said.wrong;
    }
    return outcome;
}

// The barrier lets the clock start when everybody has come.
void ProcessRunner::carry_out(Communicator& comm, const RankWork& work) {
    std::signal(SIGINT, SIG_DFL);  // a program's own handler would tell nobody here
    const int rank = comm.rank();
    comm.set_timeout(work.timeout);
    const Kernel kernel = comm.kernel(plans_);
    const Belongings belongings(comm, plans_[static_cast<std::size_t>(rank)], *this);
    const RankMemory memory = [&](std::size_t buffer) { return belongings.own(buffer); };
    Note& said = note(rank);
    for (int call = 0; call < work.calls; ++call) {
        work.before(rank, call, memory);
        comm.barrier();
        const Clock::time_point begin = Clock::now();
        comm.run(KernelAt(kernel, CallSite{}), belongings.arguments());  // no line of the user's
        const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
        said.seconds = call == 0 ? seconds : std::min(said.seconds, seconds);
        const auto wrong = work.after(rank, call, memory);
        if (wrong && said.wrong[0] == '\0') wrong->copy(said.wrong, sizeof said.wrong - 1);
    }
}

}  // namespace peal::cli
