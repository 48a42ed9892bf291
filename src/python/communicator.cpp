// SPDX-License-Identifier: Apache-2.0
#include "python/communicator.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "peal/error.hpp"
#include "peal/program.hpp"
#include "python/values.hpp"
#include "python/waiting.hpp"

namespace peal::python {
namespace {

// ---------------------------------------------------------------------------- where calls are made

// Names of files, for as long as the program runs.
const char* kept_name(PyCodeObject* code) {
    static auto* const names = new std::deque<std::string>;
    const std::string name = py::cast<std::string>(py::handle(code->co_filename));
    for (const std::string& each : *names) {
        if (each == name) return each.c_str();
    }
    return names->emplace_back(name).c_str();
}

// ---------------------------------------------------------------------------- windows

template <ElementType T>
PythonWindow window_as(const std::shared_ptr<Communicator>& communicator, std::uint64_t count,
                       CallSite site) {
    Window<T> window = communicator->window<T>(count, site);
    return {std::move(window), element_of<T>, count, communicator->rank(), communicator};
}

using MakeWindow = PythonWindow (*)(const std::shared_ptr<Communicator>&, std::uint64_t, CallSite);

// By Element, in its order.
constexpr std::array<MakeWindow, kElements.size()> kMakeWindow = {
    &window_as<f16>,           &window_as<bf16>,          &window_as<float>,
    &window_as<double>,        &window_as<std::int8_t>,   &window_as<std::int16_t>,
    &window_as<std::int32_t>,  &window_as<std::int64_t>,  &window_as<std::uint8_t>,
    &window_as<std::uint16_t>, &window_as<std::uint32_t>, &window_as<std::uint64_t>};

PythonWindow make_window(const std::shared_ptr<Communicator>& communicator, const py::object& count,
                         const py::object& dtype) {
    const std::uint64_t elements = count_from("count", count);
    const auto element = static_cast<std::size_t>(element_from_python(dtype));
    const CallSite site = python_site();
    const py::gil_scoped_release release;
    return kMakeWindow[element](communicator, elements, site);
}

PythonWindow make_signals(const std::shared_ptr<Communicator>& communicator,
                          const py::object& cells, const py::object& cell_stride) {
    const std::uint64_t count = count_from("cells", cells);
    const std::uint64_t stride = count_from("cell_stride", cell_stride);
    const CallSite site = python_site();
    const py::gil_scoped_release release;
    WindowMemory memory = communicator->signals(count, stride, site);
    const std::uint64_t bytes = memory.bytes();
    return {std::move(memory), Element::u8, bytes, communicator->rank(), communicator};
}

py::object part_of(const py::object& self, int rank) {
    const auto& window = py::cast<const PythonWindow&>(self);
    if (rank < 0 || rank >= window.communicator->nranks()) {
        throw Error(Fault::usage, fmt::format("rank: expected 0..{}, found {}",
                                              window.communicator->nranks() - 1, rank));
    }
    return to_numpy(window.memory.on(rank), window.element, {window.count}, true, self);
}

void add_window(py::module_& module) {
    py::class_<PythonWindow>(module, "Window", py::buffer_protocol(),
                             "Symmetric memory of a communicator: as many elements on every rank.\n"
                             "A collective on a window moves no data into staging memory.")
        .def("__len__", [](const PythonWindow& self) { return self.count; })
        .def_property_readonly(
            "dtype", [](const PythonWindow& self) { return name(self.element); },
            "The element type.")
        .def_property_readonly(
            "array",
            [](const py::object& self) {
                return part_of(self, py::cast<const PythonWindow&>(self).rank);
            },
            "The own part as a numpy array, which is what collectives use.")
        .def("on", &part_of, py::arg("rank"), "Any rank's part as a numpy array.")
        .def_buffer([](PythonWindow& self) {
            return to_buffer(self.memory.on(self.rank), self.element, {self.count}, true);
        })
        .def("__repr__", [](const PythonWindow& self) {
            return fmt::format("<peal.Window {}>", to_text(self.element, {self.count}));
        });
}

// ---------------------------------------------------------------------------- kernels

struct PythonKernel {
    Kernel kernel;
    std::shared_ptr<Communicator> communicator;
};

// Arguments of a kernel and what keeps them.
struct KernelMemory {
    std::vector<std::unique_ptr<HeldArray>> arrays;
    std::vector<py::object> windows;
    std::vector<KernelArgument> arguments;

    explicit KernelMemory(const py::args& given) {
        for (const py::handle each : given) {
            if (py::isinstance<PythonWindow>(each)) {
                windows.push_back(py::reinterpret_borrow<py::object>(each));
                arguments.emplace_back(py::cast<const PythonWindow&>(each).memory);
                continue;
            }
            const std::string which = fmt::format("argument {}", arguments.size());
            arrays.push_back(
                std::make_unique<HeldArray>(each, Purpose{"kernel", which.c_str(), false}));
            const Array& array = arrays.back()->array();
            if (array.is_writable) {
                arguments.emplace_back(array.memory());
            } else {
                arguments.emplace_back(array.const_memory());
            }
        }
    }
};

struct PythonPreparedKernel {
    std::unique_ptr<PreparedKernel> prepared;
    std::shared_ptr<KernelMemory> memory;
    std::shared_ptr<Communicator> communicator;

    void run() const {
        const py::gil_scoped_release release;
        prepared->run();
    }
};

PythonKernel program_kernel(const std::shared_ptr<Communicator>& communicator,
                            const ir::Program& program, const std::string& kernel,
                            const py::kwargs& sizes) {
    const ir::Kernel& picked = kernel_of(program, kernel);
    return {communicator->kernel(program, picked.name, bindings_from(picked, sizes)), communicator};
}

void run_kernel(const PythonKernel& self, const py::args& arguments) {
    const KernelMemory memory(arguments);
    const KernelAt at(self.kernel, python_site());
    const py::gil_scoped_release release;
    self.communicator->run(at, std::span<const KernelArgument>(memory.arguments));
}

PythonPreparedKernel prepare_kernel(const PythonKernel& self, const py::args& arguments) {
    auto memory = std::make_shared<KernelMemory>(arguments);
    const KernelAt at(self.kernel, python_site());
    const py::gil_scoped_release release;
    auto prepared = std::make_unique<PreparedKernel>(
        self.communicator->prepare(at, std::span<const KernelArgument>(memory->arguments)));
    return {std::move(prepared), std::move(memory), self.communicator};
}

void add_kernel(py::module_& module) {
    py::class_<PythonPreparedKernel>(module, "PreparedKernel",
                                     "A kernel with its arguments, to be run often.")
        .def("run", &PythonPreparedKernel::run, "Returns when this rank's part is done.");
    py::class_<PythonKernel>(module, "CommunicatorKernel",
                             "A kernel that is ready for one communicator.")
        .def(
            "__call__", &run_kernel,
            "Runs it, with an array or window for each parameter that is memory. Every rank calls\n"
            "it.")
        .def("prepare", &prepare_kernel,
             "The kernel with its arguments, to be run often. Every rank calls it.");
}

// ---------------------------------------------------------------------------- ranks

std::shared_ptr<Communicator> watched(Communicator communicator) {
    watch_signals(communicator);
    return std::make_shared<Communicator>(std::move(communicator));
}

std::shared_ptr<Communicator> connect() {
    return watched(unlocked([] { return Communicator::connect(); }));
}

std::shared_ptr<Communicator> split(const std::shared_ptr<Communicator>& self, int colour,
                                    int key) {
    const CallSite site = python_site();
    std::optional<Communicator> communicator;
    {
        const py::gil_scoped_release release;
        communicator.emplace(self->split(colour, key, site));
    }
    return watched(std::move(*communicator));
}

// The interpreter is forked with the process, and its lock is held until all ranks run.
int fork_ranks(int ranks, const py::function& body) {
    const Watch watch(&check_signals);
    std::optional<py::gil_scoped_release> release;
    bool is_child = false, has_forked = false;
    const auto be_rank = [&](Communicator& communicator) {
        if (!std::exchange(is_child, true)) PyOS_AfterFork_Child();
        try {
            body(watched(std::move(communicator)));
        } catch (py::error_already_set& error) {
            throw PythonFailure(error);
        }
    };
    const auto be_parent = [&] {
        has_forked = true;
        PyOS_AfterFork_Parent();
        release.emplace();
    };
    PyOS_BeforeFork();
    try {
        return Communicator::fork(ranks, be_rank, be_parent);
    } catch (...) {
        if (!is_child && !has_forked) PyOS_AfterFork_Parent();
        throw;
    }
}

void add_class(py::module_& module) {
    CommunicatorClass type(
        module, "Communicator",
        "Collectives between processes that share memory. Every rank makes the same calls in the\n"
        "same order. peal.connect() gives the place that `peal launch` made, peal.spawn() starts\n"
        "ranks.\n\n"
        "The first array is input and result, or input if `out` is given; a window of the\n"
        "communicator is both. start_allreduce(...) and its like return at once, and\n"
        "prepare_allreduce(...) and its like make a call that is run often.");
    type.def_property_readonly("rank", &Communicator::rank, "This rank.")
        .def_property_readonly("nranks", &Communicator::nranks, "How many there are.")
        .def_property_readonly(
            "profile", [](const Communicator& self) { return std::string(self.profile()); },
            "The profile that chooses the recipes: its path, or \"built in\".")
        .def(
            "set_timeout",
            [](Communicator& self, double seconds) {
                self.set_timeout(std::chrono::duration_cast<std::chrono::milliseconds>(
                    duration_of(seconds, "seconds")));
            },
            py::arg("seconds"),
            "A call that waits longer ends in an Error that says who waits for whom. 0: never.")
        .def("split", &split, py::arg("colour"), py::arg("key") = 0,
             "Ranks of the same colour as a communicator of their own, ordered by key.")
        .def("window", &make_window, py::arg("count"), py::arg("dtype") = "f32",
             "So many elements on every rank, zeroed. Every rank calls it.")
        .def("signals", &make_signals, py::arg("cells"), py::arg("cell_stride") = kCacheLineBytes,
             "Signals for a kernel: so many cells on every rank, zeroed. Every rank calls it.")
        .def("kernel", &program_kernel, py::arg("program"), py::arg("kernel") = "",
             "A kernel of a program, for this communicator; further keywords give its symbols,\n"
             "scalars and tables.")
        .def(
            "kernel",
            [](const std::shared_ptr<Communicator>& self, const std::vector<Plan>& plans) {
                return PythonKernel{self->kernel(plans), self};
            },
            py::arg("plans"), "The same from the plans of all ranks.")
        .def("__repr__", [](const Communicator& self) {
            return fmt::format("<peal.Communicator rank {} of {}>", self.rank(), self.nranks());
        });
    add_collectives(type);
    add_messages(type);
}

}  // namespace

thread_local bool Interruption::is_on_ = false;

void watch_signals(Communicator& communicator) {
    communicator.set_watch([] {
        if (Interruption::is_on()) throw Error(Fault::wrong, "interrupted");
        check_signals();
    });
}

CallSite python_site() {
    static PyCodeObject* last_code = nullptr;
    static int last_instruction = -1;
    static CallSite last;
    PyFrameObject* const frame = PyEval_GetFrame();
    if (frame == nullptr) return {};
    PyCodeObject* const code = PyFrame_GetCode(frame);
    const int instruction = PyFrame_GetLasti(frame);
    if (code != last_code || instruction != last_instruction) {
        Py_INCREF(code);  // so that no other code takes its place
        Py_XDECREF(last_code);
        last_code = code;
        last_instruction = instruction;
        last = {kept_name(code), static_cast<unsigned>(PyFrame_GetLineNumber(frame))};
    }
    Py_DECREF(code);
    return last;
}

void add_communicator(py::module_& module) {
    add_window(module);
    add_kernel(module);
    add_started(module);
    add_class(module);
    module.def("connect", &connect,
               "The place among the ranks that `peal launch` gave this process.");
    module.def("fork_ranks", &fork_ranks, py::arg("ranks"), py::arg("body"),
               "Runs body(communicator) in so many processes; the worst status. Use peal.spawn().");
}

}  // namespace peal::python
