// SPDX-License-Identifier: Apache-2.0
// The communicator: collectives between processes, or threads, that share memory.
//
//   peal::Communicator comm = peal::Communicator::connect();  // under `peal launch -n 4 program`
//   std::vector<float> gradient(n);
//   comm.allreduce(std::span(gradient));                      // in place; all ranks get the sum
//
// Every rank makes the same calls in the same order. A call that differs between ranks (another
// collective, count, element type, operation or root), a rank that dies and a wait that takes
// longer than the timeout all end in an Error on every rank; the communicator then refuses further
// calls.
//
// A communicator belongs to one thread at a time. There may be any number of them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "peal/collective.hpp"
#include "peal/communicator_calls.hpp"

namespace peal {

namespace comm {
class Queue;  // a communicator from inside
class Seat;   // this rank's place in the world
}  // namespace comm

// A call that was started. Destroying it waits for the call to end; an error is then kept for the
// next call on the communicator.
class Pending {
public:
    Pending(Pending&&) noexcept;
    Pending& operator=(Pending&&) noexcept;
    ~Pending();

    bool test();  // makes progress; true once the call is done
    void wait();  // returns when the call is done; throws what went wrong

private:
    friend class Communicator;
    friend class Prepared;
    Pending(std::shared_ptr<comm::Queue> queue, std::uint64_t ticket);
    std::shared_ptr<comm::Queue> queue_;
    std::uint64_t ticket_ = 0;
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

    struct State;
    explicit WindowMemory(std::shared_ptr<State> state);
    State& state() const { return *state_; }

private:
    std::shared_ptr<State> state_;
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
public:
    struct State;
    explicit Kernel(std::shared_ptr<const State> state);
    const State& state() const { return *state_; }

private:
    std::shared_ptr<const State> state_;
};

// What a parameter of a kernel is bound to: private memory, or symmetric memory.
struct KernelArgument {
    KernelArgument(const WindowMemory& memory)  // NOLINT(google-explicit-constructor)
        : symmetric(&memory) {}
    template <Writable B>
    KernelArgument(B&& buffer)  // NOLINT(google-explicit-constructor)
        : KernelArgument(writable_memory_of(buffer), true) {}
    template <Readable B>
    requires(!Writable<const B&>)
        KernelArgument(const B& buffer)  // NOLINT(google-explicit-constructor)
        : KernelArgument(memory_of(buffer), false) {}

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
    static int fork(int n, const std::function<void(Communicator&)>& body);

    // Runs `body` in n threads of this process, one rank each. Rethrows the first exception.
    static void threads(int n, const std::function<void(Communicator&)>& body);

    Communicator(Communicator&&) noexcept;
    Communicator& operator=(Communicator&&) noexcept;
    ~Communicator();

    int rank() const;
    int nranks() const;

    // Ranks that give the same colour form a communicator of their own, ordered by key, then by
    // rank here. Every rank calls it.
    Communicator split(int colour, int key = 0);

    // Every rank calls it with the same n.
    template <ElementType T>
    Window<T> window(std::uint64_t n) {
        return {allocate(n, sizeof(T)), rank()};
    }

    // A call that waits longer than this ends in an Error that says who waits for what. Zero, the
    // default: never.
    void set_timeout(std::chrono::milliseconds timeout);

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
    // The arguments are those of the functions in namespace peal::call (communicator_calls.hpp).

#define PEAL_IN_THREE_STYLES(collective)                               \
    template <class... Args>                                           \
    void collective(Args&&... args) {                                  \
        run(call::collective(std::forward<Args>(args)...));            \
    }                                                                  \
    template <class... Args>                                           \
    Pending start_##collective(Args&&... args) {                       \
        return start(call::collective(std::forward<Args>(args)...));   \
    }                                                                  \
    template <class... Args>                                           \
    Prepared prepare_##collective(Args&&... args) {                    \
        return prepare(call::collective(std::forward<Args>(args)...)); \
    }
    PEAL_IN_THREE_STYLES(allreduce)
    PEAL_IN_THREE_STYLES(reduce_scatter)
    PEAL_IN_THREE_STYLES(allgather)
    PEAL_IN_THREE_STYLES(all_to_all)
    PEAL_IN_THREE_STYLES(all_to_all_v)
    PEAL_IN_THREE_STYLES(broadcast)
    PEAL_IN_THREE_STYLES(reduce)
    PEAL_IN_THREE_STYLES(gather)
    PEAL_IN_THREE_STYLES(scatter)
    PEAL_IN_THREE_STYLES(barrier)
#undef PEAL_IN_THREE_STYLES

    void run(const Call& call);
    Pending start(const Call& call);
    Prepared prepare(const Call& call);

    // ---- kernels of the user's

    // Signals for a kernel: n cells, zeroed. By default each has a line of its own; kernels that
    // pack their cells tighter say how many bytes apart they are. Every rank calls it with the same
    // numbers.
    WindowMemory signals(std::uint64_t n, std::uint64_t cell_stride = kCacheLineBytes);

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
    void run(const Kernel& kernel, Args&&... args) {
        const KernelArgument arguments[] = {KernelArgument(std::forward<Args>(args))...};
        run(kernel, std::span<const KernelArgument>(arguments));
    }
    void run(const Kernel& kernel, std::span<const KernelArgument> arguments);

    // Every rank calls it; they agree here, once for all runs.
    template <class... Args>
    PreparedKernel prepare(const Kernel& kernel, Args&&... args) {
        const KernelArgument arguments[] = {KernelArgument(std::forward<Args>(args))...};
        return prepare(kernel, std::span<const KernelArgument>(arguments));
    }
    PreparedKernel prepare(const Kernel& kernel, std::span<const KernelArgument> arguments);

private:
    Communicator(std::shared_ptr<comm::Seat> seat, std::shared_ptr<comm::Queue> queue);
    WindowMemory allocate(std::uint64_t n, std::uint64_t bytes_each);

    std::shared_ptr<comm::Seat> seat_;
    std::shared_ptr<comm::Queue> queue_;
};

}  // namespace peal
