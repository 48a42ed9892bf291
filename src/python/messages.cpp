// SPDX-License-Identifier: Apache-2.0
// Messages between two ranks of a communicator.
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "peal/error.hpp"
#include "python/communicator.hpp"
#include "python/values.hpp"

namespace peal::python {
namespace {

using Holder = std::shared_ptr<Communicator>;

// The arrays of a message, kept while it is under way.
struct MessageMemory {
    std::vector<std::unique_ptr<HeldArray>> arrays;
    std::vector<Neighbour> neighbours;

    const Array& hold(const py::handle& object, const Purpose& purpose) {
        arrays.push_back(std::make_unique<HeldArray>(object, purpose));
        return arrays.back()->array();
    }
    ConstMemory sent(const py::handle& object, const char* call, const char* name) {
        return hold(object, {call, name, false}).const_memory();
    }
    Memory received(const py::handle& object, const char* call, const char* name) {
        return hold(object, {call, name, true}).memory();
    }

    // (rank, sent, received), of which either may be None.
    void add(const py::handle& given, const char* call) {
        const std::string which = fmt::format("neighbour {}", neighbours.size());
        if (!py::isinstance<py::sequence>(given) || py::len(given) != 3) {
            throw Error(Fault::usage,
                        fmt::format("{}: {}: expected (rank, sent, received), found {}", call,
                                    which, py::cast<std::string>(py::repr(given))));
        }
        const auto parts = py::reinterpret_borrow<py::sequence>(given);
        const auto rank = static_cast<int>(integer_from("rank", py::object(parts[0])));
        Neighbour neighbour{rank, Memory(), Memory()};
        const std::string sends = which + ", sent", receives = which + ", received";
        const py::object out = parts[1], in = parts[2];
        if (!out.is_none()) neighbour.sent = sent(out, call, sends.c_str());
        if (!in.is_none()) neighbour.received = received(in, call, receives.c_str());
        neighbours.push_back(neighbour);
    }
};

PythonPending pending_of(Pending pending, std::shared_ptr<MessageMemory> memory,
                         const Holder& self) {
    return {std::move(pending), std::move(memory), self};
}

void send(const Holder& self, const py::object& buffer, int to) {
    MessageMemory memory;
    const ConstMemory sent = memory.sent(buffer, "send", "buffer");
    const CallSite site = python_site();
    const py::gil_scoped_release release;
    self->send(sent, to, site);
}

PythonPending start_send(const Holder& self, const py::object& buffer, int to) {
    auto memory = std::make_shared<MessageMemory>();
    const ConstMemory sent = memory->sent(buffer, "start_send", "buffer");
    return pending_of(self->start_send(sent, to, python_site()), memory, self);
}

py::object recv(const Holder& self, py::object buffer, int source) {
    MessageMemory memory;
    const Memory received = memory.received(buffer, "recv", "buffer");
    const CallSite site = python_site();
    const py::gil_scoped_release release;
    self->recv(received, source, site);
    return buffer;
}

PythonPending start_recv(const Holder& self, const py::object& buffer, int source) {
    auto memory = std::make_shared<MessageMemory>();
    const Memory received = memory->received(buffer, "start_recv", "buffer");
    return pending_of(self->start_recv(received, source, python_site()), memory, self);
}

py::object sendrecv(const Holder& self, const py::object& sent, int to, py::object received,
                    int source) {
    MessageMemory memory;
    const ConstMemory out = memory.sent(sent, "sendrecv", "sent");
    const Memory in = memory.received(received, "sendrecv", "received");
    const CallSite site = python_site();
    const py::gil_scoped_release release;
    self->sendrecv(out, to, in, source, site);
    return received;
}

PythonPending start_sendrecv(const Holder& self, const py::object& sent, int to,
                             const py::object& received, int source) {
    auto memory = std::make_shared<MessageMemory>();
    const ConstMemory out = memory->sent(sent, "start_sendrecv", "sent");
    const Memory in = memory->received(received, "start_sendrecv", "received");
    return pending_of(self->start_sendrecv(out, to, in, source, python_site()), memory, self);
}

void exchange(const Holder& self, const py::iterable& neighbours) {
    MessageMemory memory;
    for (const py::handle each : neighbours) memory.add(each, "exchange");
    const CallSite site = python_site();
    const py::gil_scoped_release release;
    self->exchange(memory.neighbours, site);
}

PythonPending start_exchange(const Holder& self, const py::iterable& neighbours) {
    auto memory = std::make_shared<MessageMemory>();
    for (const py::handle each : neighbours) memory->add(each, "start_exchange");
    return pending_of(self->start_exchange(memory->neighbours, python_site()), memory, self);
}

}  // namespace

void add_messages(CommunicatorClass& type) {
    constexpr const char* kStarted =
        "The same, started: returns at once; the arrays belong to it until wait().";
    type.def("send", &send, py::arg("buffer"), py::arg("to"),
             "Sends an array to a rank. The first message that a rank sends to another is the "
             "first\n"
             "that the other receives from it, and so on; both name as many elements of one type.")
        .def("start_send", &start_send, py::arg("buffer"), py::arg("to"), kStarted)
        .def("recv", &recv, py::arg("buffer"), py::arg("source"),
             "Receives the next message of a rank into an array, and returns it.")
        .def("start_recv", &start_recv, py::arg("buffer"), py::arg("source"), kStarted)
        .def("sendrecv", &sendrecv, py::arg("sent"), py::arg("to"), py::arg("received"),
             py::arg("source"), "Both at once; returns what is received.")
        .def("start_sendrecv", &start_sendrecv, py::arg("sent"), py::arg("to"), py::arg("received"),
             py::arg("source"), kStarted)
        .def("exchange", &exchange, py::arg("neighbours"),
             "With every neighbour at once: a list of (rank, sent, received), of which either "
             "array\n"
             "may be None.")
        .def("start_exchange", &start_exchange, py::arg("neighbours"), kStarted);
}

}  // namespace peal::python
