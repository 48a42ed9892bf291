// SPDX-License-Identifier: Apache-2.0
// The communicator as Python has it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "peal/communicator.hpp"
#include "python/memory.hpp"
#include "python/module.hpp"

namespace peal::python {

// Symmetric memory with an element type.
struct PythonWindow {
    WindowMemory memory;
    Element element = Element::f32;
    std::uint64_t count = 0;
    int rank = 0;                                // whose own part is `array`
    std::shared_ptr<Communicator> communicator;  // outlives it
};

// A call that was started, and what keeps its memory.
struct PythonPending {
    std::optional<Pending> pending;
    std::shared_ptr<void> memory;
    std::shared_ptr<Communicator> communicator;

    PythonPending(Pending started, std::shared_ptr<void> held, std::shared_ptr<Communicator> of)
        : pending(std::move(started)), memory(std::move(held)), communicator(std::move(of)) {}
    PythonPending(PythonPending&&) = default;
    ~PythonPending();
    static void let_go(PyObject* self);  // instead of pybind11's own

    void wait();
    bool test();
};

// Waits look every now and then whether somebody pressed Ctrl-C.
void watch_signals(Communicator& communicator);

// While there is one, waits of this thread end as if somebody had just pressed Ctrl-C.
class Interruption {
public:
    Interruption() { is_on_ = true; }
    ~Interruption() { is_on_ = false; }
    Interruption(const Interruption&) = delete;
    Interruption& operator=(const Interruption&) = delete;
    static bool is_on() { return is_on_; }

private:
    static thread_local bool is_on_;
};

// Where in a Python program the call is made.
CallSite python_site();

// The collectives, as methods of the class Communicator: called often, so they read their arguments
// themselves.
void add_collectives(py::handle communicator_class);
// Messages between two ranks, as methods of it.
using CommunicatorClass = py::class_<Communicator, std::shared_ptr<Communicator>>;
void add_messages(CommunicatorClass& type);
// Pending and Prepared, which calls return.
void add_started(py::module_& module);

void add_communicator(py::module_& module);

}  // namespace peal::python
