// SPDX-License-Identifier: Apache-2.0
#include "measure.hpp"

#include <chrono>
#include <stdexcept>

#include "cpu_time.hpp"
#include "pacer.hpp"
#include "pattern.hpp"
#include "spin.hpp"

namespace peal::bench {
namespace {

using Clock = std::chrono::steady_clock;

std::int64_t nanoseconds(Clock::time_point time) {
    return std::chrono::nanoseconds(time.time_since_epoch()).count();
}

std::uint64_t pack(Batch batch) { return std::uint64_t{batch.calls} << 1 | (batch.timed ? 1 : 0); }
Batch unpack(std::uint64_t notice) {
    return {static_cast<std::uint32_t>(notice >> 1), (notice & 1) != 0};
}

// The loop over batches. Calls `after_first` once, after the first call.
template <class AfterFirst>
void run_batches(Meeting& meeting, const Job& job, int rank, const Order& order,
                 const Operation& operation, AfterFirst after_first, Answer& answer) {
    Pacer pacer(order.cold, order.seconds);
    double last_seconds = 0;
    for (std::uint64_t iteration = 0;;) {
        if (order.cold) fill_input(job, rank);
        const Batch batch =
            unpack(meeting.meet_and_tell(rank, rank == 0 ? pack(pacer.next(last_seconds)) : 0));
        if (batch.calls == 0) return;
        const auto begin = Clock::now();
        for (std::uint32_t call = 0; call < batch.calls; ++call) operation(iteration++);
        const auto end = Clock::now();
        last_seconds = std::chrono::duration<double>(end - begin).count();
        if (iteration == 1) after_first();
        if (batch.timed) {
            answer.calls = batch.calls;
            answer.batches.push_back({nanoseconds(begin), nanoseconds(end)});
        }
    }
}

void compute_for(Clock::duration time) {
    const auto end = Clock::now() + time;
    while (Clock::now() < end) spin_pause();
}

// What the contender has to do for it.
Task call_of(Task task) { return task == Task::uneven ? Task::allreduce : task; }

Operation with_work(Task task, Operation call, int rank, int nranks) {
    if (task != Task::uneven) return call;
    return [=](std::uint64_t iteration) {
        const bool is_late =
            iteration % static_cast<unsigned>(nranks) == static_cast<unsigned>(rank);
        compute_for(std::chrono::milliseconds(is_late ? 11 : 10));
        call(iteration);
    };
}

}  // namespace

Answer measure(Contender& contender, Meeting& meeting, const Order& order) {
    const int rank = contender.rank();
    const int nranks = contender.nranks();
    const double cpu_before = cpu_seconds();
    Job job;
    job.task = call_of(order.task);
    job.way = order.way;
    job.shape = shape_of(order.task, order.bytes, nranks);
    const auto input = contender.memory(job.shape.input);
    const auto output = contender.in_place() ? input : contender.memory(job.shape.output);
    job.input = input.get();
    job.output = output.get();
    fill_input(job, rank);

    Answer answer;
    const Operation operation = with_work(order.task, contender.bind(job), rank, nranks);
    run_batches(
        meeting, job, rank, order, operation,
        [&] { answer.trouble = find_wrong(job, rank, nranks); }, answer);
    answer.cpu_seconds = cpu_seconds() - cpu_before;
    return answer;
}

}  // namespace peal::bench
