// SPDX-License-Identifier: Apache-2.0
// The worker for Python: arrays stay until the tasks that use them are over, host tasks are Python
// functions, and waits can be interrupted.
#include "peal/worker.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pybind11/stl.h>

#include "peal/error.hpp"
#include "python/memory.hpp"
#include "python/module.hpp"
#include "python/tensor.hpp"
#include "python/waiting.hpp"

namespace peal::python {
namespace {

const char* word_for(TaskState state) {
    switch (state) {
        case TaskState::waiting: return "waiting";
        case TaskState::running: return "running";
        case TaskState::done: return "done";
        case TaskState::failed: return "failed";
    }
    return "";
}

// A function of Python's, for a thread without the lock.
std::function<void()> host_function(const py::function& function) {
    return [shared = anywhere(function)] {
        const py::gil_scoped_acquire lock;
        try {
            (*shared)();
        } catch (py::error_already_set& error) {
            throw PythonFailure(error);
        }
    };
}

// All members are called with the lock, and let it go while the worker works.
class PythonWorker {
public:
    explicit PythonWorker(WorkerOptions options) : worker_(started(std::move(options))) {}
    ~PythonWorker() {
        const py::gil_scoped_release release;  // host tasks may need it to end
        worker_.reset();
    }
    PythonWorker(const PythonWorker&) = delete;
    PythonWorker& operator=(const PythonWorker&) = delete;

    Worker& worker() { return *worker_; }

    template <class Submit>
    Task submit(HeldArguments held, Submit&& submit) {
        const Task task =
            python::unlocked([&] { return submit(*worker_, std::move(held.arguments)); });
        keep(task, std::move(held.arrays));
        return task;
    }

    void keep(const Task& task, std::vector<std::shared_ptr<HeldArray>> arrays) {
        while (!held_.empty() && held_.front().task.is_over()) held_.pop_front();
        if (arrays.empty()) return;
        if (held_.size() >= sweep_at_) {
            std::erase_if(held_, [](const Held& each) { return each.task.is_over(); });
            sweep_at_ = 2 * held_.size() + kFirstSweep;
        }
        held_.push_back({task, std::move(arrays)});
    }

    template <class Work>
    void unlocked(Work&& work) {
        python::unlocked([&] { work(*worker_); });
        std::erase_if(held_, [](const Held& each) { return each.task.is_over(); });
    }

private:
    struct Held {
        Task task;
        std::vector<std::shared_ptr<HeldArray>> arrays;
    };
    static constexpr std::size_t kFirstSweep = 64;

    static std::unique_ptr<Worker> started(WorkerOptions options) {
        return python::unlocked([&] { return std::make_unique<Worker>(std::move(options)); });
    }

    std::unique_ptr<Worker> worker_;
    std::deque<Held> held_;
    std::size_t sweep_at_ = kFirstSweep;
};

std::unique_ptr<PythonWorker> make_worker(int ranks, std::vector<int> devices, std::string platform,
                                          const std::string& engine, bool check,
                                          std::size_t max_pending, std::size_t max_timings,
                                          double start_deadline, double close_deadline) {
    if (engine != "processes" && engine != "in_process") {
        throw Error(
            Fault::usage,
            fmt::format("engine: there is no '{}'; choose one of processes, in_process", engine));
    }
    const auto milliseconds = [](double seconds, const char* what) {
        return std::chrono::duration_cast<std::chrono::milliseconds>(duration_of(seconds, what));
    };
    return std::make_unique<PythonWorker>(WorkerOptions{
        .ranks = ranks,
        .devices = std::move(devices),
        .platform = std::move(platform),
        .engine = engine == "processes" ? DeviceEngine::processes : DeviceEngine::in_process,
        .check = check,
        .max_pending = max_pending,
        .max_timings = max_timings,
        .start_deadline = milliseconds(start_deadline, "start_deadline"),
        .close_deadline = milliseconds(close_deadline, "close_deadline")});
}

// ---------------------------------------------------------------------------- arguments

HeldArguments arguments_of(const DeviceKernel& kernel, const py::iterable& arguments,
                           const std::string& whose) {
    HeldArguments held;
    const std::string call = fmt::format("kernel {}", kernel.name());
    int position = 0;
    for (const py::handle argument : arguments) {
        const std::string which = fmt::format("argument {}{}", position++, whose);
        held.add(argument, {call.c_str(), which.c_str(), false});
    }
    return held;
}

// Of each member of a group.
struct GroupArguments {
    std::vector<Arguments> all;
    HeldArguments held;  // the arrays
};

GroupArguments group_arguments_of(const DeviceKernel& kernel, const py::iterable& arguments) {
    GroupArguments group;
    for (const py::handle each : arguments) {
        const std::string whose = fmt::format(" of rank {}", group.all.size());
        if (!py::isinstance<py::iterable>(each)) {
            throw Error(Fault::usage,
                        fmt::format("kernel {}: arguments{}: expected a list, found {}",
                                    kernel.name(), whose, Py_TYPE(each.ptr())->tp_name));
        }
        HeldArguments held =
            arguments_of(kernel, py::reinterpret_borrow<py::iterable>(each), whose);
        group.all.push_back(std::move(held.arguments));
        auto& arrays = group.held.arrays;
        arrays.insert(arrays.end(), held.arrays.begin(), held.arrays.end());
    }
    return group;
}

Task submit(PythonWorker& self, const DeviceKernel& kernel, int rank, const py::iterable& arguments,
            std::string name, std::vector<Task> after) {
    return self.submit(arguments_of(kernel, arguments, ""), [&](Worker& worker, Arguments all) {
        return worker.submit(kernel, rank, std::move(all), {std::move(name), std::move(after)});
    });
}

Task submit_on_ranks(PythonWorker& self, const DeviceKernel& kernel, const std::vector<int>& ranks,
                     const py::iterable& arguments, std::string name, std::vector<Task> after) {
    GroupArguments group = group_arguments_of(kernel, arguments);
    return self.submit(std::move(group.held), [&](Worker& worker, const Arguments&) {
        return worker.submit_group(kernel, ranks, std::move(group.all),
                                   {std::move(name), std::move(after)});
    });
}

Task submit_in_domain(PythonWorker& self, const DeviceKernel& kernel, const Domain& domain,
                      const py::iterable& arguments, std::string name, std::vector<Task> after) {
    GroupArguments group = group_arguments_of(kernel, arguments);
    return self.submit(std::move(group.held), [&](Worker& worker, const Arguments&) {
        return worker.submit_group(kernel, domain, std::move(group.all),
                                   {std::move(name), std::move(after)});
    });
}

Task submit_host(PythonWorker& self, const py::function& function, const py::iterable& reads,
                 const py::iterable& writes, const py::iterable& updates, std::string name,
                 std::vector<Task> after) {
    HeldArguments held;
    const auto add = [&](const py::iterable& tensors, const char* which, Direction direction) {
        const Purpose purpose{"submit_host", which, direction != Direction::in};
        for (const py::handle tensor : tensors) held.add(tensor, purpose, direction);
    };
    add(reads, "reads", Direction::in);
    add(writes, "writes", Direction::out);
    add(updates, "updates", Direction::inout);
    if (name.empty() && py::hasattr(function, "__name__")) {
        name = py::cast<std::string>(function.attr("__name__"));
    }
    return self.submit(std::move(held), [call = host_function(function), &name, &after](
                                            Worker& worker, Arguments uses) {
        return worker.submit_host(call, std::move(uses), {std::move(name), std::move(after)});
    });
}

using CopyCall = Task (Worker::*)(const Tensor&, const Tensor&, TaskOptions);

// copy, upload, download.
template <CopyCall call>
Task copy(PythonWorker& self, const py::object& source, const py::object& target, std::string name,
          std::vector<Task> after) {
    HeldTensor from = tensor_of(source, {"copy", "source", false});
    HeldTensor to = tensor_of(target, {"copy", "target", true});
    HeldArguments held;
    if (from.array) held.arrays.push_back(from.array);
    if (to.array) held.arrays.push_back(to.array);
    return self.submit(std::move(held), [&](Worker& worker, const Arguments&) {
        return (worker.*call)(from.tensor, to.tensor, {std::move(name), std::move(after)});
    });
}

std::vector<Task> upload_parts(PythonWorker& self, const py::object& source,
                               const ShardedTensor& target) {
    const HeldTensor from = tensor_of(source, {"upload", "source", false});
    const std::vector<Task> tasks = self.worker().upload(from.tensor, target);
    for (const Task& task : tasks) self.keep(task, {from.array});
    return tasks;
}

std::vector<Task> download_parts(PythonWorker& self, const ShardedTensor& source,
                                 const py::object& target) {
    const HeldTensor to = tensor_of(target, {"download", "target", true});
    const std::vector<Task> tasks = self.worker().download(source, to.tensor);
    for (const Task& task : tasks) self.keep(task, {to.array});
    return tasks;
}

// ---------------------------------------------------------------------------- domains and tasks

void add_domain(py::module_& module) {
    py::class_<DomainWindow>(module, "DomainWindow", "A window of a domain, as an argument.")
        .def_property_readonly("name", &DomainWindow::name, "Its name.");
    py::class_<Domain>(module, "Domain",
                       "Devices that share windows. As a context it is released at the end.")
        .def_property_readonly("name", &Domain::name, "Its name.")
        .def_property_readonly("nranks", &Domain::nranks, "How many devices it has.")
        .def_property_readonly("ranks", &Domain::ranks, "Its devices, by rank in the domain.")
        .def("__contains__", &Domain::has, py::arg("device"), "Whether the device is in it.")
        .def("rank_of", &Domain::rank_of, py::arg("device"), "The rank of a device in it.")
        .def("window", &Domain::window, py::arg("name"), "The window of that name.")
        .def("__getitem__", &Domain::window, py::arg("name"), "The window of that name.")
        .def(
            "view",
            [](const Domain& domain, const std::string& window, int device) {
                return HeldTensor{domain.view(window, device), nullptr};
            },
            py::arg("window"), py::arg("device"),
            "A device's part of a window as a tensor; signals as bytes.")
        .def("release", &Domain::release,
             "No further task may use it; the memory goes when the tasks that do are over.")
        .def_property_readonly("is_released", &Domain::is_released, "Whether release() was called.")
        .def("__enter__", [](const py::object& self) { return self; })
        .def("__exit__", [](Domain& domain, const py::args&) { domain.release(); })
        .def("__repr__", [](const Domain& domain) {
            return fmt::format("<peal.Domain {}: devices {}>", domain.name(),
                               fmt::join(domain.ranks(), ", "));
        });
}

void add_task(py::module_& module) {
    py::class_<Task>(module, "Task", "A task that was submitted.")
        .def_property_readonly("id", &Task::id, "Counted from 1, in the order of submission.")
        .def_property_readonly("name", &Task::name, "In reports.")
        .def_property_readonly(
            "state", [](const Task& task) { return word_for(task.state()); },
            "\"waiting\", \"running\", \"done\" or \"failed\".")
        .def_property_readonly("is_over", &Task::is_over, "Done or failed.")
        .def(
            "wait",
            [](const Task& task, std::optional<double> timeout) {
                return wait_for_python([&](auto limit) { return task.wait_for(limit); }, timeout);
            },
            py::arg("timeout") = py::none(),
            "Returns True when the task is done, False after `timeout` seconds; raises what went\n"
            "wrong: what a host task raised, or an Error that names task, rank and instruction.")
        .def("__repr__", [](const Task& task) {
            return fmt::format("<peal.Task {} '{}', {}>", task.id(), task.name(),
                               word_for(task.state()));
        });
}

void add_timing(py::module_& module) {
    py::class_<TaskTiming::Part>(module, "TaskPart", "One device's part of a task that is over.")
        .def_readonly("rank", &TaskTiming::Part::rank, "The device; -1 for the host.")
        .def_readonly("started", &TaskTiming::Part::started, "Nanoseconds.")
        .def_readonly("ended", &TaskTiming::Part::ended, "Nanoseconds.")
        .def_readonly("waited", &TaskTiming::Part::waited, "Of that, for other ranks.");
    py::class_<TaskTiming>(module, "TaskTiming",
                           "When one task was where: nanoseconds since the worker was made.")
        .def_readonly("id", &TaskTiming::id, "The task's.")
        .def_readonly("name", &TaskTiming::name, "The task's.")
        .def_property_readonly(
            "state", [](const TaskTiming& timing) { return word_for(timing.state); },
            "\"done\" or \"failed\".")
        .def_readonly("queued", &TaskTiming::queued, "It was submitted.")
        .def_readonly("dispatched", &TaskTiming::dispatched, "Nothing was before it any more.")
        .def_readonly("finished", &TaskTiming::finished, "Those after it may start.")
        .def_property_readonly("started", &TaskTiming::started, "Its first part.")
        .def_property_readonly("ended", &TaskTiming::ended, "Its last part.")
        .def_readonly("parts", &TaskTiming::parts, "One per device.")
        .def_readonly("bytes", &TaskTiming::bytes, "Read and written by all parts.")
        .def_readonly("not_run", &TaskTiming::not_run, "Why it was not run, or empty.")
        .def_readonly("after", &TaskTiming::after, "The tasks that it came after.");
}

using WorkerClass = py::class_<PythonWorker>;

void add_worker_memory(WorkerClass& type) {
    type.def(
            "alloc",
            [](PythonWorker& self, int rank, const py::object& shape, const py::object& dtype) {
                const Dimensions dimensions = PyIndex_Check(shape.ptr()) != 0
                                                  ? Dimensions{py::cast<std::uint64_t>(shape)}
                                                  : py::cast<Dimensions>(shape);
                return HeldTensor{self.worker().alloc(rank, element_from_python(dtype), dimensions),
                                  nullptr};
            },
            py::arg("rank"), py::arg("shape"), py::arg("dtype") = "f32",
            "Memory on a device, zeroed.")
        .def(
            "alloc_sharded",
            [](PythonWorker& self, const Dimensions& shape, const py::object& dtype,
               const std::vector<int>& ranks) {
                return self.worker().alloc_sharded(element_from_python(dtype), shape, ranks);
            },
            py::arg("shape"), py::arg("dtype") = "f32", py::arg("ranks") = std::vector<int>{},
            "Equal parts of the first dimension, on all devices or on those given.")
        .def("copy", &copy<&Worker::copy>, py::arg("source"), py::arg("target"),
             py::arg("name") = "", py::arg("after") = std::vector<Task>{},
             "Copies between tensors or arrays, as a task.")
        .def("upload", &upload_parts, py::arg("source"), py::arg("target"),
             "Copies an array to the parts of a sharded tensor.")
        .def("upload", &copy<&Worker::upload>, py::arg("source"), py::arg("target"),
             py::arg("name") = "", py::arg("after") = std::vector<Task>{},
             "Copies from the host to a device, as a task.")
        .def("download", &download_parts, py::arg("source"), py::arg("target"),
             "Copies the parts of a sharded tensor to an array.")
        .def("download", &copy<&Worker::download>, py::arg("source"), py::arg("target"),
             py::arg("name") = "", py::arg("after") = std::vector<Task>{},
             "Copies from a device to the host, as a task.")
        .def(
            "allocate_domain",
            [](PythonWorker& self, std::vector<WindowSpec> windows, std::vector<int> ranks,
               std::string name) {
                return self.worker().allocate_domain(
                    {std::move(name), std::move(ranks), std::move(windows)});
            },
            py::arg("windows"), py::arg("ranks") = std::vector<int>{}, py::arg("name") = "domain",
            "Devices, all or those given in the order of their ranks, that share these windows,\n"
            "which are zeroed.");
}

void add_worker_tasks(WorkerClass& type) {
    type.def("submit", &submit, py::arg("kernel"), py::arg("rank"), py::arg("arguments"),
             py::arg("name") = "", py::arg("after") = std::vector<Task>{},
             "One device's part of a kernel, as a task. An argument is a tensor, an array, a "
             "window\n"
             "of a domain, a number, or a table of integers.")
        .def("submit_group", &submit_in_domain, py::arg("kernel"), py::arg("domain"),
             py::arg("arguments"), py::arg("name") = "", py::arg("after") = std::vector<Task>{},
             "All parts of a kernel, as one task: a list of arguments for each rank of the domain.")
        .def("submit_group", &submit_on_ranks, py::arg("kernel"), py::arg("ranks"),
             py::arg("arguments"), py::arg("name") = "", py::arg("after") = std::vector<Task>{},
             "The same on these devices.")
        .def("submit_host", &submit_host, py::arg("function"), py::arg("reads") = py::tuple(),
             py::arg("writes") = py::tuple(), py::arg("updates") = py::tuple(),
             py::arg("name") = "", py::arg("after") = std::vector<Task>{},
             "A Python function without arguments, as a task on a thread of the worker's. What it\n"
             "touches says when it runs. What it raises is what wait() on it raises.")
        .def(
            "wait",
            [](PythonWorker& self, std::optional<double> timeout) {
                const bool over = wait_for_python(
                    [&](auto limit) { return self.worker().wait_for(limit); }, timeout);
                self.unlocked([](Worker&) {});
                return over;
            },
            py::arg("timeout") = py::none(),
            "Returns True when all tasks are over, False after `timeout` seconds; raises the "
            "first\n"
            "failure that no wait() has reported.");
}

void add_worker_life(WorkerClass& type) {
    type.def(
            "restart",
            [](PythonWorker& self) { self.unlocked([](Worker& worker) { worker.restart(); }); },
            "New devices after a failure; tensors are as they were, windows are zeroed.")
        .def(
            "close",
            [](PythonWorker& self) { self.unlocked([](Worker& worker) { worker.close(); }); },
            "Waits for all tasks, ends the devices, and leaves nothing behind.")
        .def("__enter__", [](const py::object& self) { return self; })
        .def("__exit__",
             [](PythonWorker& self, const py::args&) {
                 self.unlocked([](Worker& worker) { worker.close(); });
             })
        .def_property_readonly(
            "ranks", [](PythonWorker& self) { return self.worker().ranks(); },
            "How many devices it has.")
        .def_property_readonly(
            "devices", [](PythonWorker& self) { return self.worker().devices(); },
            "Their numbers, by rank.")
        .def_property_readonly(
            "platform", [](PythonWorker& self) { return self.worker().options().platform; },
            "Whose limits `check` applies.")
        .def_property_readonly(
            "state", [](PythonWorker& self) { return name(self.worker().state()); },
            "\"new\", \"ready\", \"failed\" or \"closed\".")
        .def(
            "process_of",
            [](PythonWorker& self, int rank) { return self.worker().process_of(rank); },
            py::arg("rank"), "The process of a device; 0 if it has none.")
        .def(
            "timings", [](PythonWorker& self) { return self.worker().timings(); },
            "Of tasks that are over, in the order of their end.")
        .def(
            "table", [](PythonWorker& self) { return to_table(self.worker().timings()); },
            "The timings as text, a line per task.")
        .def(
            "write_trace",
            [](PythonWorker& self, const std::string& path) { self.worker().write_trace(path); },
            py::arg("path"), "Writes them for chrome://tracing and ui.perfetto.dev.")
        .def("__repr__", [](PythonWorker& self) {
            return fmt::format("<peal.Worker {}: devices {}, {}>", self.worker().options().platform,
                               fmt::join(self.worker().devices(), ", "),
                               name(self.worker().state()));
        });
}

}  // namespace

void add_worker(py::module_& module) {
    add_domain(module);
    add_task(module);
    add_timing(module);
    WorkerClass type(
        module, "Worker",
        "One program that drives many devices: it submits tasks, which run in the order that what\n"
        "they read and write demands. As a context it is closed at the end.");
    type.def(py::init(&make_worker), py::arg("ranks") = 0, py::arg("devices") = std::vector<int>{},
             py::arg("platform") = "host", py::arg("engine") = "processes",
             py::arg("check") = false, py::arg("max_pending") = 4096,
             py::arg("max_timings") = 100'000, py::arg("start_deadline") = 10.0,
             py::arg("close_deadline") = 10.0,
             "Starts so many devices, or these. With `check`, a kernel is proved before its first\n"
             "run, and refused with the counterexample if it is not.");
    add_worker_memory(type);
    add_worker_tasks(type);
    add_worker_life(type);
}

}  // namespace peal::python
