// SPDX-License-Identifier: Apache-2.0
// The communicator: collectives between processes, or threads, that share memory.
//
//   peal::Communicator comm = peal::Communicator::connect();  // under `peal launch -n 4 program`
//   std::vector<float> gradient(n);
//   comm.allreduce(std::span(gradient));                      // in place; all ranks get the sum
//
// Every rank makes the same calls in the same order. A call that differs between ranks (another
// collective, count, element type, operation, root or window), a rank that dies and a wait that
// takes longer than the timeout all end in an Error on every rank; the communicator then refuses
// further calls.
//
// A communicator belongs to one thread at a time: a call that finds another thread's under way ends
// in an Error(usage), and that one goes on. There may be any number of communicators.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "peal/collective.hpp"
#include "peal/communicator_calls.hpp"
#include "peal/communicator_misuse.hpp"
#include "peal/error.hpp"
#include "peal/plan.hpp"

namespace peal {

namespace comm {
class Desk;         // a communicator from inside
class Queue;        // its calls that were started
class WorldMember;  // this rank among those of the world
struct WindowState;
struct KernelState;
struct Inside;  // gets at the states
}  // namespace comm

// A call that was started. Destroying it waits for the call to end; an error is then kept for the
// next call on the communicator.
class Pending {
public:
    Pending(Pending&&) noexcept;
    Pending& operator=(Pending&&) noexcept;
    ~Pending();

    // Makes progress; true once the call is done. Asks what wait() asks, so that a rank that tests
    // again and again is told what went wrong; the timeout counts from the first test() that found
    // the call standing where it stands.
    bool test();
    void wait();  // returns when the call is done; throws what went wrong

private:
    friend class Communicator;
    friend class Prepared;
    struct Part {
        std::shared_ptr<comm::Queue> queue;  // null: there is nothing to wait for
        std::uint64_t ticket = 0;
        bool test() const;
        void wait() const;
    };
    Pending() = default;
    Pending(std::shared_ptr<comm::Queue> queue, std::uint64_t ticket);
    void add(std::shared_ptr<comm::Queue> queue, std::uint64_t ticket);
    Part first_;
    std::vector<Part> rest_;  // of an exchange
};

// A call whose plan and buffers are fixed, to be run often.
class Prepared {
public:
    Prepared(Prepared&&) noexcept;
    Prepared& operator=(Prepared&&) noexcept;
    ~Prepared();

    void run();
    Pending start();

private:
    friend class Communicator;
    struct State;
    explicit Prepared(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

// Symmetric memory of a communicator: the same number of elements on every rank, zeroed. A
// collective on a window moves no data into or out of staging memory. Releasing it needs no
// agreement: the memory goes when the last rank has let go.
class WindowMemory {
public:
    WindowMemory(WindowMemory&&) noexcept;
    WindowMemory& operator=(WindowMemory&&) noexcept;
    ~WindowMemory();

    std::byte* on(int rank) const;  // any rank's part; the own part is what collectives use
    std::uint64_t bytes() const;    // per rank

private:
    friend class Communicator;
    friend struct comm::Inside;
    explicit WindowMemory(std::shared_ptr<comm::WindowState> state);
    std::shared_ptr<comm::WindowState> state_;
};

template <ElementType T>
class Window : public WindowMemory {
public:
    Window(WindowMemory memory, int rank)
        : WindowMemory(std::move(memory)),
          own_(reinterpret_cast<T*>(on(rank)), bytes() / sizeof(T)) {}

    std::span<T> span() const { return own_; }
    T& operator[](std::size_t i) const { return own_[i]; }
    std::size_t size() const { return own_.size(); }

private:
    std::span<T> own_;
};

// A kernel of the user's, made ready for one communicator.
class Kernel {
    friend class Communicator;
    friend struct comm::Inside;
    explicit Kernel(std::shared_ptr<const comm::KernelState> state);
    std::shared_ptr<const comm::KernelState> state_;
};

// A kernel in a call: reports tell where that is.
struct KernelAt {
    KernelAt(const Kernel& the_kernel,  // NOLINT(google-explicit-constructor): it is one
             CallSite where = CallSite::here())
        : kernel(the_kernel), at(where) {}
    const Kernel& kernel;
    CallSite at;
};

// What a parameter of a kernel is bound to: private memory, or symmetric memory.
struct KernelArgument {
    KernelArgument(const WindowMemory& memory)  // NOLINT(google-explicit-constructor)
        : symmetric(&memory) {}
    template <Writable B>
    // NOLINTNEXTLINE(google-explicit-constructor,bugprone-forwarding-reference-overload)
    KernelArgument(B&& buffer) : KernelArgument(Memory(buffer), true) {}
    template <Readable B>
    requires(!Writable<const B&>)
        KernelArgument(const B& buffer)  // NOLINT(google-explicit-constructor)
        : KernelArgument(ConstMemory(buffer), false) {}

    ConstMemory argument{nullptr, 0, Element::u8};
    bool is_writable = false;
    const WindowMemory* symmetric = nullptr;

private:
    KernelArgument(const ConstMemory& memory, bool writable)
        : argument(memory), is_writable(writable) {}
};

// A kernel with its arguments, which must outlive it, to be run often.
//
// The ranks agreed once that they run the same kernel on the same windows; a run itself makes
// nobody meet. What holds from one run to the next is what `peal check` proves for calls in a row:
// a kernel that is proved may be run at once again. Before other calls use the same windows, all
// ranks must have returned: Communicator::barrier() sees to it.
class PreparedKernel {
public:
    PreparedKernel(PreparedKernel&&) noexcept;
    PreparedKernel& operator=(PreparedKernel&&) noexcept;
    ~PreparedKernel();

    void run();  // returns when this rank's part is done

private:
    friend class Communicator;
    struct State;
    explicit PreparedKernel(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

class Communicator {
public:
    // ---- a place among the ranks

    // The place that `peal launch` (or another parent, see docs/communicator.md) gave this process.
    // Without one, Error(usage).
    static Communicator connect();

    // Runs `body` in n child processes, one rank each, and returns the worst exit status when all
    // have ended: 0 if every body returned. An exception that leaves a body is printed and ends its
    // process with status 1 or 2; a signal counts as 128 + its number. When a rank dies the others
    // get an error, and are killed if they do not end then.
    // `started` is called when all of them run, by the parent, before it waits.
    static int fork(int n, const std::function<void(Communicator&)>& body,
                    const std::function<void()>& started = {});

    // Runs `body` in n threads of this process, one rank each. Rethrows the first exception.
    static void threads(int n, const std::function<void(Communicator&)>& body);

    Communicator(Communicator&&) noexcept;
    Communicator& operator=(Communicator&&) noexcept;
    ~Communicator();

    int rank() const;
    int nranks() const;

    // Ranks that give the same colour form a communicator of their own, ordered by key, then by
    // rank here. Every rank calls it.
    Communicator split(int colour, int key = 0, CallSite at = CallSite::here());

    // Every rank calls it with the same n.
    template <ElementType T>
    Window<T> window(std::uint64_t n, CallSite at = CallSite::here()) {
        return {allocate(n, sizeof(T), at), rank()};
    }

    // A call that waits longer than this ends in an Error that says who waits for whom. Zero:
    // never. Any number of milliseconds will do. The default is PEAL_TIMEOUT, else zero; `peal
    // launch --timeout 30s` sets the variable.
    void set_timeout(std::chrono::milliseconds timeout);

    // Called about every ten milliseconds by a call that waits, on its thread. What it throws ends
    // the call: this rank gets that, the others an Error(wrong) that says so, and the communicator
    // refuses further calls. Split communicators have none until they are given one.
    void set_watch(std::function<void()> watch);

    // The profile that chooses the recipes: its path, or "built in" (docs/communicator.md).
    std::string_view profile() const;

    // The recipe that it chooses for this call. Nothing is exchanged. Throws as the call would when
    // its arguments do not fit.
    std::string recipe(const Call& call) const;

    // ---- collectives, in three styles
    //
    // allreduce(...) returns when the result is there. start_allreduce(...) returns at once; the
    // buffers belong to the call until wait(). Calls are carried out in the order in which they
    // were started, and make progress in every call on the communicator. prepare_allreduce(...)
    // finds the plan now; run() is then a little cheaper than the plain call.
    //
    // A buffer is anything contiguous of an element type, or one variable; communicator_calls.hpp
    // says more, also of blocks, of calls in place and of windows. A call that cannot be does not
    // compile, and communicator_misuse.hpp says why.

    // n to n: the combination of all ranks' vectors.
    void allreduce(Memory buffer, ReduceOp op = ReduceOp::sum, CallSite at = CallSite::here()) {
        run(call::allreduce(buffer, op), at);
    }
    void allreduce(ConstMemory input, Memory output, ReduceOp op = ReduceOp::sum,
                   CallSite at = CallSite::here()) {
        run(call::allreduce(input, output, op), at);
    }
    void allreduce(WindowElements window, ReduceOp op = ReduceOp::sum,
                   CallSite at = CallSite::here()) {
        run(call::allreduce(window, op), at);
    }
    Pending start_allreduce(Memory buffer, ReduceOp op = ReduceOp::sum,
                            CallSite at = CallSite::here()) {
        return start(call::allreduce(buffer, op), at);
    }
    Pending start_allreduce(ConstMemory input, Memory output, ReduceOp op = ReduceOp::sum,
                            CallSite at = CallSite::here()) {
        return start(call::allreduce(input, output, op), at);
    }
    Pending start_allreduce(WindowElements window, ReduceOp op = ReduceOp::sum,
                            CallSite at = CallSite::here()) {
        return start(call::allreduce(window, op), at);
    }
    Prepared prepare_allreduce(Memory buffer, ReduceOp op = ReduceOp::sum,
                               CallSite at = CallSite::here()) {
        return prepare(call::allreduce(buffer, op), at);
    }
    Prepared prepare_allreduce(ConstMemory input, Memory output, ReduceOp op = ReduceOp::sum,
                               CallSite at = CallSite::here()) {
        return prepare(call::allreduce(input, output, op), at);
    }
    Prepared prepare_allreduce(WindowElements window, ReduceOp op = ReduceOp::sum,
                               CallSite at = CallSite::here()) {
        return prepare(call::allreduce(window, op), at);
    }
    PEAL_SAYS_WHY(allreduce, of_call)

    // P*n to n: block `rank` of the combination of all.
    void reduce_scatter(Memory buffer, ReduceOp op = ReduceOp::sum,
                        CallSite at = CallSite::here()) {
        run(call::reduce_scatter(buffer, op), at);
    }
    void reduce_scatter(ConstMemory input, Memory output, ReduceOp op = ReduceOp::sum,
                        CallSite at = CallSite::here()) {
        run(call::reduce_scatter(input, output, op), at);
    }
    void reduce_scatter(WindowElements window, ReduceOp op = ReduceOp::sum,
                        CallSite at = CallSite::here()) {
        run(call::reduce_scatter(window, op), at);
    }
    Pending start_reduce_scatter(Memory buffer, ReduceOp op = ReduceOp::sum,
                                 CallSite at = CallSite::here()) {
        return start(call::reduce_scatter(buffer, op), at);
    }
    Pending start_reduce_scatter(ConstMemory input, Memory output, ReduceOp op = ReduceOp::sum,
                                 CallSite at = CallSite::here()) {
        return start(call::reduce_scatter(input, output, op), at);
    }
    Pending start_reduce_scatter(WindowElements window, ReduceOp op = ReduceOp::sum,
                                 CallSite at = CallSite::here()) {
        return start(call::reduce_scatter(window, op), at);
    }
    Prepared prepare_reduce_scatter(Memory buffer, ReduceOp op = ReduceOp::sum,
                                    CallSite at = CallSite::here()) {
        return prepare(call::reduce_scatter(buffer, op), at);
    }
    Prepared prepare_reduce_scatter(ConstMemory input, Memory output, ReduceOp op = ReduceOp::sum,
                                    CallSite at = CallSite::here()) {
        return prepare(call::reduce_scatter(input, output, op), at);
    }
    Prepared prepare_reduce_scatter(WindowElements window, ReduceOp op = ReduceOp::sum,
                                    CallSite at = CallSite::here()) {
        return prepare(call::reduce_scatter(window, op), at);
    }
    PEAL_SAYS_WHY(reduce_scatter, of_call)

    // n to P*n: everybody's block, in rank order.
    void allgather(Memory buffer, CallSite at = CallSite::here()) {
        run(call::allgather(buffer), at);
    }
    void allgather(ConstMemory input, Memory output, CallSite at = CallSite::here()) {
        run(call::allgather(input, output), at);
    }
    void allgather(WindowElements window, CallSite at = CallSite::here()) {
        run(call::allgather(window), at);
    }
    Pending start_allgather(Memory buffer, CallSite at = CallSite::here()) {
        return start(call::allgather(buffer), at);
    }
    Pending start_allgather(ConstMemory input, Memory output, CallSite at = CallSite::here()) {
        return start(call::allgather(input, output), at);
    }
    Pending start_allgather(WindowElements window, CallSite at = CallSite::here()) {
        return start(call::allgather(window), at);
    }
    Prepared prepare_allgather(Memory buffer, CallSite at = CallSite::here()) {
        return prepare(call::allgather(buffer), at);
    }
    Prepared prepare_allgather(ConstMemory input, Memory output, CallSite at = CallSite::here()) {
        return prepare(call::allgather(input, output), at);
    }
    Prepared prepare_allgather(WindowElements window, CallSite at = CallSite::here()) {
        return prepare(call::allgather(window), at);
    }
    PEAL_SAYS_WHY(allgather, of_call)

    // P*n to P*n: block `rank` of everybody.
    void all_to_all(Memory buffer, CallSite at = CallSite::here()) {
        run(call::all_to_all(buffer), at);
    }
    void all_to_all(ConstMemory input, Memory output, CallSite at = CallSite::here()) {
        run(call::all_to_all(input, output), at);
    }
    void all_to_all(WindowElements window, CallSite at = CallSite::here()) {
        run(call::all_to_all(window), at);
    }
    Pending start_all_to_all(Memory buffer, CallSite at = CallSite::here()) {
        return start(call::all_to_all(buffer), at);
    }
    Pending start_all_to_all(ConstMemory input, Memory output, CallSite at = CallSite::here()) {
        return start(call::all_to_all(input, output), at);
    }
    Pending start_all_to_all(WindowElements window, CallSite at = CallSite::here()) {
        return start(call::all_to_all(window), at);
    }
    Prepared prepare_all_to_all(Memory buffer, CallSite at = CallSite::here()) {
        return prepare(call::all_to_all(buffer), at);
    }
    Prepared prepare_all_to_all(ConstMemory input, Memory output, CallSite at = CallSite::here()) {
        return prepare(call::all_to_all(input, output), at);
    }
    Prepared prepare_all_to_all(WindowElements window, CallSite at = CallSite::here()) {
        return prepare(call::all_to_all(window), at);
    }
    PEAL_SAYS_WHY(all_to_all, of_call)

    // counts[r*P + d] elements from each rank r to each rank d.
    void all_to_all_v(ConstMemory input, Memory output, const Counts& counts,
                      CallSite at = CallSite::here()) {
        run(call::all_to_all_v(input, output, counts), at);
    }
    Pending start_all_to_all_v(ConstMemory input, Memory output, const Counts& counts,
                               CallSite at = CallSite::here()) {
        return start(call::all_to_all_v(input, output, counts), at);
    }
    Prepared prepare_all_to_all_v(ConstMemory input, Memory output, const Counts& counts,
                                  CallSite at = CallSite::here()) {
        return prepare(call::all_to_all_v(input, output, counts), at);
    }
    // The same where each rank knows its own pieces only. The ranks first tell each other, in an
    // all_to_all that takes small pieces along, so start_all_to_all_v() returns when all have come.
    // A sender and its receiver that disagree are an Error(usage) on every rank.
    void all_to_all_v(ConstMemory input, Memory output, const Pieces& sent, const Pieces& received,
                      CallSite at = CallSite::here());
    Pending start_all_to_all_v(ConstMemory input, Memory output, const Pieces& sent,
                               const Pieces& received, CallSite at = CallSite::here());
    Prepared prepare_all_to_all_v(ConstMemory input, Memory output, const Pieces& sent,
                                  const Pieces& received, CallSite at = CallSite::here());
    PEAL_SAYS_WHY(all_to_all_v, of_call)

    // counts[r] elements from each rank r to everybody, in rank order.
    void allgather_v(ConstMemory input, Memory output, const Counts& counts,
                     CallSite at = CallSite::here()) {
        run(call::allgather_v(input, output, counts), at);
    }
    Pending start_allgather_v(ConstMemory input, Memory output, const Counts& counts,
                              CallSite at = CallSite::here()) {
        return start(call::allgather_v(input, output, counts), at);
    }
    Prepared prepare_allgather_v(ConstMemory input, Memory output, const Counts& counts,
                                 CallSite at = CallSite::here()) {
        return prepare(call::allgather_v(input, output, counts), at);
    }
    PEAL_SAYS_WHY(allgather_v, of_call)

    // counts[r] elements to each rank r: its piece of the combination of all.
    void reduce_scatter_v(ConstMemory input, Memory output, const Counts& counts,
                          ReduceOp op = ReduceOp::sum, CallSite at = CallSite::here()) {
        run(call::reduce_scatter_v(input, output, counts, op), at);
    }
    Pending start_reduce_scatter_v(ConstMemory input, Memory output, const Counts& counts,
                                   ReduceOp op = ReduceOp::sum, CallSite at = CallSite::here()) {
        return start(call::reduce_scatter_v(input, output, counts, op), at);
    }
    Prepared prepare_reduce_scatter_v(ConstMemory input, Memory output, const Counts& counts,
                                      ReduceOp op = ReduceOp::sum, CallSite at = CallSite::here()) {
        return prepare(call::reduce_scatter_v(input, output, counts, op), at);
    }
    PEAL_SAYS_WHY(reduce_scatter_v, of_call)

    // n to n: the root's vector.
    void broadcast(Memory buffer, int root = 0, CallSite at = CallSite::here()) {
        run(call::broadcast(buffer, root), at);
    }
    void broadcast(WindowElements window, int root = 0, CallSite at = CallSite::here()) {
        run(call::broadcast(window, root), at);
    }
    Pending start_broadcast(Memory buffer, int root = 0, CallSite at = CallSite::here()) {
        return start(call::broadcast(buffer, root), at);
    }
    Pending start_broadcast(WindowElements window, int root = 0, CallSite at = CallSite::here()) {
        return start(call::broadcast(window, root), at);
    }
    Prepared prepare_broadcast(Memory buffer, int root = 0, CallSite at = CallSite::here()) {
        return prepare(call::broadcast(buffer, root), at);
    }
    Prepared prepare_broadcast(WindowElements window, int root = 0,
                               CallSite at = CallSite::here()) {
        return prepare(call::broadcast(window, root), at);
    }
    PEAL_SAYS_WHY(broadcast, in_place)

    // n to n at the root.
    void reduce(Memory buffer, ReduceOp op = ReduceOp::sum, int root = 0,
                CallSite at = CallSite::here()) {
        run(call::reduce(buffer, op, root), at);
    }
    void reduce(ConstMemory input, Memory output, ReduceOp op = ReduceOp::sum, int root = 0,
                CallSite at = CallSite::here()) {
        run(call::reduce(input, output, op, root), at);
    }
    Pending start_reduce(Memory buffer, ReduceOp op = ReduceOp::sum, int root = 0,
                         CallSite at = CallSite::here()) {
        return start(call::reduce(buffer, op, root), at);
    }
    Pending start_reduce(ConstMemory input, Memory output, ReduceOp op = ReduceOp::sum,
                         int root = 0, CallSite at = CallSite::here()) {
        return start(call::reduce(input, output, op, root), at);
    }
    Prepared prepare_reduce(Memory buffer, ReduceOp op = ReduceOp::sum, int root = 0,
                            CallSite at = CallSite::here()) {
        return prepare(call::reduce(buffer, op, root), at);
    }
    Prepared prepare_reduce(ConstMemory input, Memory output, ReduceOp op = ReduceOp::sum,
                            int root = 0, CallSite at = CallSite::here()) {
        return prepare(call::reduce(input, output, op, root), at);
    }
    PEAL_SAYS_WHY(reduce, of_call)

    // n to P*n at the root.
    void gather(ConstMemory input, Memory output, int root = 0, CallSite at = CallSite::here()) {
        run(call::gather(input, output, root), at);
    }
    Pending start_gather(ConstMemory input, Memory output, int root = 0,
                         CallSite at = CallSite::here()) {
        return start(call::gather(input, output, root), at);
    }
    Prepared prepare_gather(ConstMemory input, Memory output, int root = 0,
                            CallSite at = CallSite::here()) {
        return prepare(call::gather(input, output, root), at);
    }
    PEAL_SAYS_WHY(gather, of_call)

    // P*n at the root to n: block `rank` of it.
    void scatter(ConstMemory input, Memory output, int root = 0, CallSite at = CallSite::here()) {
        run(call::scatter(input, output, root), at);
    }
    Pending start_scatter(ConstMemory input, Memory output, int root = 0,
                          CallSite at = CallSite::here()) {
        return start(call::scatter(input, output, root), at);
    }
    Prepared prepare_scatter(ConstMemory input, Memory output, int root = 0,
                             CallSite at = CallSite::here()) {
        return prepare(call::scatter(input, output, root), at);
    }
    PEAL_SAYS_WHY(scatter, of_call)

    // n to n: the combination of ranks 0 to `rank`, in rank order.
    void scan(Memory buffer, ReduceOp op = ReduceOp::sum, CallSite at = CallSite::here()) {
        run(call::scan(buffer, op), at);
    }
    void scan(ConstMemory input, Memory output, ReduceOp op = ReduceOp::sum,
              CallSite at = CallSite::here()) {
        run(call::scan(input, output, op), at);
    }
    Pending start_scan(Memory buffer, ReduceOp op = ReduceOp::sum, CallSite at = CallSite::here()) {
        return start(call::scan(buffer, op), at);
    }
    Pending start_scan(ConstMemory input, Memory output, ReduceOp op = ReduceOp::sum,
                       CallSite at = CallSite::here()) {
        return start(call::scan(input, output, op), at);
    }
    Prepared prepare_scan(Memory buffer, ReduceOp op = ReduceOp::sum,
                          CallSite at = CallSite::here()) {
        return prepare(call::scan(buffer, op), at);
    }
    Prepared prepare_scan(ConstMemory input, Memory output, ReduceOp op = ReduceOp::sum,
                          CallSite at = CallSite::here()) {
        return prepare(call::scan(input, output, op), at);
    }
    PEAL_SAYS_WHY(scan, of_call)

    // n to n: the combination of ranks 0 to `rank` - 1; rank 0 gets nothing.
    void exscan(Memory buffer, ReduceOp op = ReduceOp::sum, CallSite at = CallSite::here()) {
        run(call::exscan(buffer, op), at);
    }
    void exscan(ConstMemory input, Memory output, ReduceOp op = ReduceOp::sum,
                CallSite at = CallSite::here()) {
        run(call::exscan(input, output, op), at);
    }
    Pending start_exscan(Memory buffer, ReduceOp op = ReduceOp::sum,
                         CallSite at = CallSite::here()) {
        return start(call::exscan(buffer, op), at);
    }
    Pending start_exscan(ConstMemory input, Memory output, ReduceOp op = ReduceOp::sum,
                         CallSite at = CallSite::here()) {
        return start(call::exscan(input, output, op), at);
    }
    Prepared prepare_exscan(Memory buffer, ReduceOp op = ReduceOp::sum,
                            CallSite at = CallSite::here()) {
        return prepare(call::exscan(buffer, op), at);
    }
    Prepared prepare_exscan(ConstMemory input, Memory output, ReduceOp op = ReduceOp::sum,
                            CallSite at = CallSite::here()) {
        return prepare(call::exscan(input, output, op), at);
    }
    PEAL_SAYS_WHY(exscan, of_call)

    // Nobody returns before everybody has called.
    void barrier(CallSite at = CallSite::here()) { run(call::barrier(), at); }
    Pending start_barrier(CallSite at = CallSite::here()) { return start(call::barrier(), at); }
    Prepared prepare_barrier(CallSite at = CallSite::here()) {
        return prepare(call::barrier(), at);
    }

    // ---- messages between two ranks
    //
    // The first message that rank a sends to rank b is the first that b receives from a, and so on:
    // each direction of each pair has an order of its own, which no collective and no other message
    // disturbs. Both sides must name the same number of elements of the same type.
    //
    // send() returns when the buffer may be used again: small messages are kept for the receiver,
    // large ones wait for it, and so does a small one that finds much before it. Started messages
    // make progress in every wait on the communicator. No tags: docs/communicator.md says what to
    // do instead.

    void send(ConstMemory buffer, int to, CallSite at = CallSite::here());
    Pending start_send(ConstMemory buffer, int to, CallSite at = CallSite::here());
    PEAL_SAYS_WHY_OF_MESSAGE(send, sent)

    void recv(Memory buffer, int from, CallSite at = CallSite::here());
    Pending start_recv(Memory buffer, int from, CallSite at = CallSite::here());
    PEAL_SAYS_WHY_OF_MESSAGE(recv, received)

    // Both at once; the buffers must not overlap.
    void sendrecv(ConstMemory sent, int to, Memory received, int from,
                  CallSite at = CallSite::here());
    Pending start_sendrecv(ConstMemory sent, int to, Memory received, int from,
                           CallSite at = CallSite::here());
    PEAL_SAYS_WHY_OF_MESSAGE(sendrecv, sent_and_received)

    // With every neighbour at once: sends to it and receives from it. A neighbour may come several
    // times. What is received must overlap nothing else.
    void exchange(std::span<const Neighbour> neighbours, CallSite at = CallSite::here());
    void exchange(std::initializer_list<Neighbour> neighbours, CallSite at = CallSite::here()) {
        exchange(std::span(neighbours.begin(), neighbours.size()), at);
    }
    Pending start_exchange(std::span<const Neighbour> neighbours, CallSite at = CallSite::here());
    Pending start_exchange(std::initializer_list<Neighbour> neighbours,
                           CallSite at = CallSite::here()) {
        return start_exchange(std::span(neighbours.begin(), neighbours.size()), at);
    }
    PEAL_SAYS_WHY_OF_MESSAGE(exchange, exchanged)

    void run(const Call& call, CallSite at = CallSite::here());
    Pending start(const Call& call, CallSite at = CallSite::here());
    Prepared prepare(const Call& call, CallSite at = CallSite::here());

    // ---- kernels of the user's

    // Signals for a kernel: n cells, zeroed. By default each has a line of its own; kernels that
    // pack their cells tighter say how many bytes apart they are, a multiple of 4. Every rank calls
    // it with the same numbers.
    WindowMemory signals(std::uint64_t n, std::uint64_t cell_stride = kCacheLineBytes,
                         CallSite at = CallSite::here());

    // Compiles this rank's plan of a kernel. Shapes and scalars come from `bindings`, the same on
    // every rank.
    Kernel kernel(const ir::Program& program, std::string_view name, const Bindings& bindings);

    // The same from the plans of all ranks: those of a traced PTO kernel (peal/pto.hpp), of a file,
    // or built in C++. Pipes and flags cost nothing: each rank goes through its plan in an order
    // that they allow. Throws Error(usage) when there is not one plan per rank, Error(program) when
    // they are not valid or wait for a flag that is never set.
    Kernel kernel(const std::vector<Plan>& plans);

    // Runs it with one argument per parameter that is memory, in order. Every rank calls it; it
    // begins when all have come and agreed that it is the same kernel, and returns when this rank's
    // part is done. Arguments may overlap in memory only if both are read, and a window is bound to
    // one parameter: else Error(usage). Whether the kernel is right is for `peal check` to say.
    template <class... Args>
    void run(KernelAt kernel, Args&&... args) {
        const KernelArgument arguments[] = {KernelArgument(std::forward<Args>(args))...};
        run(kernel, std::span<const KernelArgument>(arguments));
    }
    void run(KernelAt kernel, std::span<const KernelArgument> arguments);

    // Every rank calls it; they agree here, once for all runs.
    template <class... Args>
    PreparedKernel prepare(KernelAt kernel, Args&&... args) {
        const KernelArgument arguments[] = {KernelArgument(std::forward<Args>(args))...};
        return prepare(kernel, std::span<const KernelArgument>(arguments));
    }
    PreparedKernel prepare(KernelAt kernel, std::span<const KernelArgument> arguments);

private:
    friend struct comm::Inside;
    Communicator(std::shared_ptr<comm::WorldMember> member, std::shared_ptr<comm::Desk> desk);
    WindowMemory allocate(std::uint64_t n, std::uint64_t bytes_each, CallSite at);

    std::shared_ptr<comm::WorldMember> member_;
    std::shared_ptr<comm::Desk> desk_;
};

}  // namespace peal

#undef PEAL_SAYS_WHY
#undef PEAL_SAYS_WHY_OF_MESSAGE
