// SPDX-License-Identifier: Apache-2.0
// Instructions between ranks.
#pragma once

#include "pto/comm/comm_types.hpp"
#include "pto/common/pto_tile.hpp"

namespace pto::comm {

// Sets or adds to a cell, own or remote, on the scalar unit. It is ordered after the pipes' work
// only as far as that was drained.
inline void TNOTIFY(const Signal& signal, std::int32_t value, NotifyOp op,
                    const trace::Where& where = trace::Where::current()) {
    trace::Operation operation = trace::begin(
        op == NotifyOp::Set ? trace::Op::notify_set : trace::Op::notify_add, "TNOTIFY", where);
    operation.cell = reinterpret_cast<std::uint64_t>(signal.data());
    operation.value = value;
    trace::end(operation);
}

// Waits until the own cell compares.
inline void TWAIT(const Signal& signal, std::int32_t value, WaitCmp compare,
                  const trace::Where& where = trace::Where::current()) {
    trace::Operation operation = trace::begin(trace::Op::wait, "TWAIT", where);
    operation.cell = reinterpret_cast<std::uint64_t>(signal.data());
    operation.value = value;
    operation.compare = static_cast<std::int32_t>(compare);
    trace::end(operation);
}

// Asks whether the own cell compares. What a kernel does then depends on the moment, so it is not
// traceable; it is here to say so.
inline bool TTEST(const Signal& signal, std::int32_t value, WaitCmp compare,
                  const trace::Where& where = trace::Where::current()) {
    trace::Operation operation = trace::begin(trace::Op::test, "TTEST", where);
    operation.cell = reinterpret_cast<std::uint64_t>(signal.data());
    operation.value = value;
    operation.compare = static_cast<std::int32_t>(compare);
    return trace::end(operation);
}

namespace detail {

template <class To, class From, class Through>
void transfer(trace::Op op, const char* name, const To& to, const From& from,
              const Through& through, const trace::Where& where) {
    trace::Operation operation = trace::begin(op, name, where);
    operation.memory[0] = pto::detail::memory_operand(to);
    operation.memory[1] = pto::detail::memory_operand(from);
    operation.tile[0] = through.operand();
    trace::end(operation);
}

}  // namespace detail

// Loads and stores in pieces through the tile. On return the load pipe waits for the last store;
// the scalar unit does not, so drain the pipes before a notify. Uses event 0 between MTE2 and MTE3,
// both ways. With AtomicAdd each element is added atomically.
template <AtomicType kAtomic = AtomicType::AtomicNone, class To, class From, class Through>
void TPUT(const To& to, const From& from, const Through& through,
          const trace::Where& where = trace::Where::current()) {
    detail::transfer(kAtomic == AtomicType::AtomicAdd ? trace::Op::put_add : trace::Op::put, "TPUT",
                     to, from, through, where);
}

// As TPUT, from a peer.
template <class To, class From, class Through>
void TGET(const To& to, const From& from, const Through& through,
          const trace::Where& where = trace::Where::current()) {
    detail::transfer(trace::Op::put, "TGET", to, from, through, where);
}

// ---------------------------------------------------------------------------- asynchronous

enum class DmaEngine { SDMA, URMA };

// Transfers that an engine of its own carries out. They are done when somebody has waited for them.
class AsyncSession {
public:
    bool is_open() const { return number_ != 0; }
    std::int32_t number() const { return number_; }
    void open() { number_ = ++trace::sessions(); }

private:
    std::int32_t number_ = 0;
};

// Opens the session. The scratch tile and the workspace are the engine's.
template <DmaEngine kEngine = DmaEngine::SDMA, class Scratch, class... More>
bool BuildAsyncSession(Scratch& /*scratch*/, std::uint8_t* /*workspace*/, AsyncSession& session,
                       const More&... /*more*/) {
    session.open();
    return true;
}
template <DmaEngine kEngine>
bool BuildAsyncSession(std::uint8_t* /*workspace*/, std::uint32_t /*peer*/, AsyncSession& session) {
    session.open();
    return true;
}

struct AsyncEvent {
    // On return everything that the session was given before is done.
    bool Wait(const AsyncSession& session,
              const trace::Where& where = trace::Where::current()) const {
        trace::Operation operation = trace::begin(trace::Op::wait_async, "Wait", where);
        operation.event = session.number();
        trace::end(operation);
        return true;
    }
    // As TTEST: not traceable.
    bool Test(const AsyncSession& session,
              const trace::Where& where = trace::Where::current()) const {
        trace::Operation operation = trace::begin(trace::Op::test, "Test", where);
        operation.event = session.number();
        return trace::end(operation);
    }
};

namespace detail {

template <class To, class From>
AsyncEvent transfer_async(const char* name, const To& to, const From& from,
                          const AsyncSession& session, const trace::Where& where) {
    trace::Operation operation = trace::begin(trace::Op::put_async, name, where);
    operation.memory[0] = pto::detail::memory_operand(to);
    operation.memory[1] = pto::detail::memory_operand(from);
    operation.event = session.number();
    trace::end(operation);
    return {};
}

}  // namespace detail

// One stretch of memory to a peer, or from one, at any time until the session has been waited for:
// until then the source must stay as it is, and the destination is neither old nor new.
template <DmaEngine kEngine = DmaEngine::SDMA, class To, class From>
AsyncEvent TPUT_ASYNC(const To& to, const From& from, const AsyncSession& session,
                      const trace::Where& where = trace::Where::current()) {
    return detail::transfer_async("TPUT_ASYNC", to, from, session, where);
}
template <DmaEngine kEngine = DmaEngine::SDMA, class To, class From>
AsyncEvent TGET_ASYNC(const To& to, const From& from, const AsyncSession& session,
                      const trace::Where& where = trace::Where::current()) {
    return detail::transfer_async("TGET_ASYNC", to, from, session, where);
}

}  // namespace pto::comm

namespace pto {

// Tensors and tiles are in pto, so this is where unqualified calls find these.
using comm::TGET;
using comm::TGET_ASYNC;
using comm::TNOTIFY;
using comm::TPUT;
using comm::TPUT_ASYNC;
using comm::TTEST;
using comm::TWAIT;

}  // namespace pto
