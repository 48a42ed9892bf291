// SPDX-License-Identifier: Apache-2.0
// One collective call with real buffers, compared with the reference. Failures are thrown, so that
// ranks may be processes.
#pragma once

#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include "comm/reference.hpp"

namespace peal::comm::test {

enum class Ranks { threads, processes };

// A failure of any rank is thrown here.
template <class Body>
void run_ranks(Ranks ranks, int nranks, const Body& body) {
    if (ranks == Ranks::threads) return Communicator::threads(nranks, body);
    if (const int status = Communicator::fork(nranks, body); status != 0) {
        throw std::runtime_error(fmt::format("a rank ended with status {}", status));
    }
}

template <ElementType T>
class Attempt {
public:
    Attempt(Communicator& comm, const Task& task) : comm_(comm), task_(task), rank_(comm.rank()) {}

    static bool works_in_place(CollectiveKind kind) {
        return kind != CollectiveKind::all_to_all_v && kind != CollectiveKind::barrier;
    }
    static bool works_in_window(CollectiveKind kind) {
        using enum CollectiveKind;
        return kind == allreduce || kind == reduce_scatter || kind == allgather ||
               kind == broadcast || kind == all_to_all;
    }
    static std::uint64_t window_size(const Task& task) {
        if (task.has_pieces()) return task.before(task.nranks);
        const bool blocks = has_input_blocks(task.kind) || has_output_blocks(task.kind);
        return task.count * static_cast<std::uint64_t>(blocks ? task.nranks : 1);
    }

    // Two buffers; those that only the root needs are empty elsewhere.
    void separate() const {
        if (task_.kind == CollectiveKind::broadcast) return;
        const bool gives = task_.kind != CollectiveKind::scatter || rank_ == task_.root;
        const std::vector<T> input = gives ? elements<T>(input_of(task_, rank_)) : std::vector<T>();
        std::vector<T> output(output_of(task_, rank_).size(), element<T>(7));
        Call call = call::between(task_.kind, input, output, task_.op, task_.root);
        call.counts = task_.counts;
        comm_.run(call);
        if (gives) expect(input, input_of(task_, rank_), "the input afterwards");
        expect(output, output_of(task_, rank_), "separate");
    }

    void in_place() const {
        std::vector<T> buffer(window_size(task_), element<T>(7));
        const std::span<T> input = input_in(buffer), output = output_in(buffer);
        fill(input);
        const bool has_single_form = task_.kind != CollectiveKind::gather &&
                                     task_.kind != CollectiveKind::scatter && !task_.has_pieces();
        Call call = has_single_form
                        ? call::in_place(task_.kind, buffer, task_.op, task_.root)
                        : call::between(task_.kind, input, output, task_.op, task_.root);
        call.counts = task_.counts;
        comm_.run(call);
        if (gets_output(task_, rank_))
            expect(output, output_of(task_, rank_), "in place");
        else
            expect(input, input_of(task_, rank_), "in place, no output");
    }

    void in_window(const Window<T>& window) const {
        fill(input_in(window.span()));
        comm_.run(call::in_window(task_.kind, window, task_.op, task_.root));
        expect(output_in(window.span()), output_of(task_, rank_), "in a window");
    }

private:
    std::span<T> own_block(std::span<T> buffer) const {
        if (task_.has_pieces()) return buffer.subspan(task_.before(rank_), task_.piece(rank_));
        return buffer.subspan(static_cast<std::size_t>(rank_) * task_.block(), task_.block());
    }
    std::span<T> input_in(std::span<T> buffer) const {
        const bool smaller = task_.kind == CollectiveKind::allgather_v ||
                             (has_output_blocks(task_.kind) && !has_input_blocks(task_.kind));
        return smaller ? own_block(buffer) : buffer;
    }
    std::span<T> output_in(std::span<T> buffer) const {
        const bool smaller = task_.kind == CollectiveKind::reduce_scatter_v ||
                             (has_input_blocks(task_.kind) && !has_output_blocks(task_.kind));
        return smaller ? own_block(buffer) : buffer;
    }
    void fill(std::span<T> input) const {
        const std::vector<T> values = elements<T>(input_of(task_, rank_));
        std::copy(values.begin(), values.end(), input.begin());
    }
    void expect(std::span<const T> found, const Numbers& numbers, std::string_view what) const {
        const std::vector<T> expected = elements<T>(numbers);
        const bool same_size = found.size() == expected.size();
        if (same_size && std::equal(found.begin(), found.end(), expected.begin())) return;
        std::size_t at = 0;
        while (same_size && found[at] == expected[at]) ++at;
        throw std::runtime_error(
            fmt::format("{} of {} {}, {}, root {}, {} ranks: {}: rank {} differs at {} of {}",
                        name(task_.kind), task_.count, name(element_of<T>), name(task_.op),
                        task_.root, task_.nranks, what, rank_, at, found.size()));
    }

    Communicator& comm_;
    const Task& task_;
    int rank_;
};

// The call in every placement that there is.
template <ElementType T>
void attempt(Communicator& comm, const Task& task) {
    const Attempt<T> call(comm, task);
    call.separate();
    if (Attempt<T>::works_in_place(task.kind)) call.in_place();
}

}  // namespace peal::comm::test
