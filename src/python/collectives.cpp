// SPDX-License-Identifier: Apache-2.0
// The collectives of a communicator. A call of eight bytes takes less than a microsecond, so what
// surrounds it must not: arguments are read without a generic dispatch, plain numpy arrays without
// the buffer protocol.
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "peal/collective_kind.hpp"
#include "peal/error.hpp"
#include "python/communicator.hpp"
#include "python/values.hpp"
#include "python/waiting.hpp"

namespace peal::python {
namespace {

enum class Style : std::uint8_t { run, start, prepare };

// What is called, in which style; the first word of messages.
struct Method {
    CollectiveKind kind;
    Style style;
    const char* name;

    bool takes_data() const { return facts_of(kind).has_data(); }
    bool takes_op() const { return has_reduction(kind); }
    bool takes_root() const { return has_root(kind); }
    bool takes_counts() const { return facts_of(kind).is_counted(); }
};

// ---------------------------------------------------------------------------- started and prepared

// The memory of a call: windows and arrays, kept while it is under way.
struct CallMemory {
    std::unique_ptr<HeldArray> input, output;
    py::object window;
    std::vector<std::int64_t> counts;
};

struct PythonPrepared {
    Prepared prepared;
    std::shared_ptr<CallMemory> memory;
    std::shared_ptr<Communicator> communicator;

    void run() {
        const py::gil_scoped_release release;
        prepared.run();
    }
    PythonPending start() { return {prepared.start(), memory, communicator}; }
};

// ---------------------------------------------------------------------------- arguments

// The arguments of a call, borrowed.
struct Given {
    PyObject* buffer = nullptr;
    PyObject* out = nullptr;
    PyObject* op = nullptr;
    PyObject* root = nullptr;
    PyObject* counts = nullptr;
};

[[noreturn]] void bad_call(const std::string& message) {
    PyErr_SetString(PyExc_TypeError, message.c_str());
    throw py::error_already_set();
}

// Names of keywords are interned, so that the first look is enough but for calls made by others.
struct Keyword {
    const char* name;
    PyObject* Given::*member;
    PyObject* interned = nullptr;
};

std::array<Keyword, 5>& keywords() {
    static std::array<Keyword, 5> all = {
        Keyword{"buffer", &Given::buffer}, Keyword{"out", &Given::out}, Keyword{"op", &Given::op},
        Keyword{"root", &Given::root}, Keyword{"counts", &Given::counts}};
    if (all.front().interned == nullptr) {
        for (Keyword& each : all) each.interned = PyUnicode_InternFromString(each.name);
    }
    return all;
}

void read_keyword(const Method& method, PyObject* key, PyObject* value, Given& given) {
    for (const Keyword& each : keywords()) {
        if (key != each.interned && PyUnicode_Compare(key, each.interned) != 0) continue;
        const bool is_taken = each.member == &Given::op       ? method.takes_op()
                              : each.member == &Given::root   ? method.takes_root()
                              : each.member == &Given::counts ? method.takes_counts()
                                                              : method.takes_data();
        if (!is_taken) break;
        if (given.*each.member != nullptr) {
            bad_call(
                fmt::format("{}() got multiple values for argument '{}'", method.name, each.name));
        }
        given.*each.member = value == Py_None ? nullptr : value;
        return;
    }
    bad_call(fmt::format("{}() got an unexpected keyword argument '{}'", method.name,
                         py::cast<std::string>(py::handle(key))));
}

Given read_arguments(const Method& method, PyObject* const* arguments, Py_ssize_t count,
                     PyObject* names) {
    Given given;
    const Py_ssize_t most = method.takes_data() ? 2 : 0;
    if (count > most) {
        bad_call(fmt::format("{}() takes {} positional arguments but {} were given", method.name,
                             most, count));
    }
    if (count > 0) given.buffer = arguments[0];
    if (count > 1 && arguments[1] != Py_None) given.out = arguments[1];
    const Py_ssize_t named = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
    for (Py_ssize_t i = 0; i < named; ++i) {
        read_keyword(method, PyTuple_GET_ITEM(names, i), arguments[count + i], given);
    }
    if (method.takes_data() && given.buffer == nullptr) {
        bad_call(fmt::format("{}() is missing the argument 'buffer'", method.name));
    }
    if (method.takes_counts() && given.counts == nullptr) {
        bad_call(fmt::format("{}() is missing the argument 'counts'", method.name));
    }
    return given;
}

ReduceOp op_of(PyObject* given) {
    if (given == nullptr) return ReduceOp::sum;
    Py_ssize_t length = 0;
    const char* const text =
        PyUnicode_Check(given) != 0 ? PyUnicode_AsUTF8AndSize(given, &length) : nullptr;
    if (text == nullptr) {
        PyErr_Clear();
        throw Error(Fault::usage, fmt::format("op: expected a word such as 'sum', found {}",
                                              Py_TYPE(given)->tp_name));
    }
    return word_from("op", {text, static_cast<std::size_t>(length)}, kReduceOps);
}

// Whether the call has one buffer that is both, or reads one and writes the other.
bool is_always_apart(CollectiveKind kind) {
    return kind == CollectiveKind::gather || kind == CollectiveKind::scatter ||
           facts_of(kind).is_counted();
}

// The call with its memory; what must be held beyond plain arrays is put in `memory`.
class Caller {
public:
    Caller(const Method& method, const Given& given, CallMemory& memory)
        : method_(method), given_(given), memory_(memory) {
        call_.kind = method.kind;
        call_.op = op_of(given.op);
        if (given.root != nullptr) {
            call_.root = static_cast<int>(integer_from("root", given.root));
        }
        if (!method.takes_data()) {
            call_ = call::barrier();
        } else if (py::isinstance<PythonWindow>(given.buffer)) {
            use_window();
        } else {
            use_arrays();
        }
        if (given.counts != nullptr) {
            memory_.counts = table_from("counts", given.counts);
            call_.counts = memory_.counts;
        }
    }

    const Call& call() const { return call_; }

private:
    void use_window() {
        if (given_.out != nullptr) {
            throw Error(Fault::usage, fmt::format("{}: a window is input and result; leave out "
                                                  "'out'",
                                                  method_.name));
        }
        memory_.window = py::reinterpret_borrow<py::object>(given_.buffer);
        const auto& window = py::cast<const PythonWindow&>(memory_.window);
        call_.element = call_.output_element = window.element;
        call_.output_count = window.count;
        call_.window = &window.memory;
    }

    void use_arrays() {
        const bool is_single = given_.out == nullptr;
        if (is_single && is_always_apart(method_.kind)) {
            bad_call(fmt::format("{}() is missing the argument 'out'", method_.name));
        }
        if (!is_single && method_.kind == CollectiveKind::broadcast) {
            bad_call("broadcast() is in place: it takes no 'out'");
        }
        const Array first = array_of(given_.buffer, "buffer", is_single, memory_.input);
        call_.element = call_.output_element = first.element;
        call_.single = is_single;
        if (is_single) {
            call_.output = first.data;
            call_.output_count = first.count;
            return;
        }
        call_.input = first.data;
        call_.input_count = first.count;
        const Array second = array_of(given_.out, "out", true, memory_.output);
        call_.output_element = second.element;
        call_.output = second.data;
        call_.output_count = second.count;
    }

    // A call that runs at once needs no hold on a plain array: its caller has one.
    Array array_of(PyObject* object, const char* name, bool writes,
                   std::unique_ptr<HeldArray>& held) const {
        Array array;
        if (method_.style == Style::run && quick_array(object, writes, array)) return array;
        held = std::make_unique<HeldArray>(object, Purpose{method_.name, name, writes});
        return held->array();
    }

    const Method& method_;
    const Given& given_;
    CallMemory& memory_;
    Call call_;
};

// ---------------------------------------------------------------------------- methods

using Holder = std::shared_ptr<Communicator>;

const Holder& communicator_of(PyObject* self) {
    auto* const instance = reinterpret_cast<py::detail::instance*>(self);
    const auto values = instance->get_value_and_holder();
    if (!values.holder_constructed()) bad_call("this communicator was not connected");
    return values.holder<Holder>();
}

PyObject* perform(const Method& method, PyObject* self, PyObject* const* arguments,
                  Py_ssize_t count, PyObject* names) {
    const Holder& communicator = communicator_of(self);
    const Given given = read_arguments(method, arguments, count, names);
    if (method.style == Style::run) {
        CallMemory memory;
        const Caller caller(method, given, memory);
        const CallSite site = python_site();
        {
            const py::gil_scoped_release release;
            communicator->run(caller.call(), site);
        }
        PyObject* const result = given.out != nullptr      ? given.out
                                 : given.buffer != nullptr ? given.buffer
                                                           : Py_None;
        Py_INCREF(result);
        return result;
    }
    auto memory = std::make_shared<CallMemory>();
    const Caller caller(method, given, *memory);
    if (method.style == Style::start) {
        Pending pending = communicator->start(caller.call(), python_site());
        return py::cast(PythonPending(std::move(pending), std::move(memory), communicator))
            .release()
            .ptr();
    }
    Prepared prepared = communicator->prepare(caller.call(), python_site());
    return py::cast(PythonPrepared{std::move(prepared), std::move(memory), communicator})
        .release()
        .ptr();
}

// Called by the interpreter: no exception may leave it.
PyObject* guarded(const Method& method, PyObject* self, PyObject* const* arguments,
                  Py_ssize_t count, PyObject* names) {
    try {
        return perform(method, self, arguments, count, names);
    } catch (py::error_already_set& error) {
        error.restore();
    } catch (...) {
        raise(std::current_exception());
    }
    return nullptr;
}

constexpr std::array kPrefixes = {"", "start_", "prepare_"};

// "start_allreduce", for as long as the program runs.
template <CollectiveKind kind, Style style>
const Method& method_for() {
    static const std::string text =
        kPrefixes[static_cast<std::size_t>(style)] + std::string(name(kind));
    static const Method method{kind, style, text.c_str()};
    return method;
}

template <CollectiveKind kind, Style style>
PyObject* entry(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
    return guarded(method_for<kind, style>(), self, arguments, count, names);
}

std::string_view meaning_of(CollectiveKind kind) {
    switch (kind) {
        case CollectiveKind::allreduce: return "n to n: the combination of all ranks' vectors.";
        case CollectiveKind::reduce_scatter:
            return "P*n to n: block `rank` of the combination of all. In place the result is "
                   "block\n"
                   "`rank`.";
        case CollectiveKind::allgather:
            return "n to P*n: everybody's block, in rank order. In place the input is block "
                   "`rank`.";
        case CollectiveKind::all_to_all: return "P*n to P*n: block `rank` of everybody.";
        case CollectiveKind::all_to_all_v:
            return "counts[r][d] elements from each rank r to each rank d.";
        case CollectiveKind::allgather_v:
            return "counts[r] elements from each rank r to everybody, in rank order.";
        case CollectiveKind::reduce_scatter_v:
            return "counts[r] elements to each rank r: its piece of the combination of all.";
        case CollectiveKind::broadcast: return "n to n: the root's vector, in place.";
        case CollectiveKind::reduce: return "n to n at the root: the combination of all.";
        case CollectiveKind::gather: return "n to P*n at the root.";
        case CollectiveKind::scatter: return "P*n at the root to n: block `rank` of it.";
        case CollectiveKind::scan: return "n to n: the combination of ranks 0 to `rank`.";
        case CollectiveKind::exscan:
            return "n to n: the combination of ranks 0 to `rank` - 1; rank 0 gets nothing.";
        case CollectiveKind::barrier: return "Nobody returns before everybody has called.";
        default: return "";
    }
}

std::string signature_of(const Method& method) {
    std::string text = "$self, /";
    if (method.takes_data()) {
        text += ", buffer";
        if (is_always_apart(method.kind))
            text += ", out";
        else if (method.kind != CollectiveKind::broadcast)
            text += ", out=None";
        if (method.takes_op() || method.takes_root() || method.takes_counts()) text += ", *";
        if (method.takes_counts()) text += ", counts";
        if (method.takes_op()) text += ", op='sum'";
        if (method.takes_root()) text += ", root=0";
    }
    return text;
}

// As the interpreter reads it: "name(signature)\n--\n\ntext".
template <CollectiveKind kind, Style style>
const char* document_for() {
    static const std::string text = [] {
        const Method& method = method_for<kind, style>();
        std::string words(meaning_of(kind));
        if (style == Style::run && method.takes_data()) {
            words += "\n\nReturns the result: `out`, or `buffer` in place.";
        } else if (style == Style::start) {
            words += "\n\nReturns at once; the arrays belong to the call until wait().";
        } else if (style == Style::prepare) {
            words +=
                "\n\nFinds the plan now, for arrays that stay the same; run() is cheaper then.";
        }
        return fmt::format("{}({})\n--\n\n{}", method.name, signature_of(method), words);
    }();
    return text.c_str();
}

template <CollectiveKind kind, Style style>
void add_method(PyTypeObject* type) {
    static PyMethodDef definition = {
        method_for<kind, style>().name,
        reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&entry<kind, style>)),
        METH_FASTCALL | METH_KEYWORDS, document_for<kind, style>()};
    const auto method = py::reinterpret_steal<py::object>(PyDescr_NewMethod(type, &definition));
    if (!method) throw py::error_already_set();
    py::setattr(reinterpret_cast<PyObject*>(type), definition.ml_name, method);
}

template <CollectiveKind... kinds>
void add_methods(PyTypeObject* type) {
    (add_method<kinds, Style::run>(type), ...);
    (add_method<kinds, Style::start>(type), ...);
    (add_method<kinds, Style::prepare>(type), ...);
}

}  // namespace

void add_collectives(py::handle communicator_class) {
    [type = reinterpret_cast<PyTypeObject*>(communicator_class.ptr())]<std::size_t... i>(
        std::index_sequence<i...>) {
        add_methods<kCollectives[i]...>(type);
    }
    (std::make_index_sequence<kCollectives.size()>());
}

// A call that is let go is waited for. A Ctrl-C meanwhile must not be lost.
PythonPending::~PythonPending() {
    if (!pending) return;
    const py::gil_scoped_release release;
    try {
        pending->wait();
    } catch (const PythonFailure&) {
        PyErr_SetInterrupt();
    } catch (...) {  // the next call on the communicator says it again
    }
    pending.reset();
}

// A Ctrl-C between its start and its wait() lets a call go, too, and then nobody may come any more.
// The destructor does not see what is on its way: pybind11 hides it.
void PythonPending::let_go(PyObject* self) {
    std::optional<Interruption> interruption;
    const bool is_passing = PyErr_Occurred() != nullptr;
    if (is_passing && PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) != 0) {
        interruption.emplace();
    }
    py::detail::pybind11_object_dealloc(self);
}

void PythonPending::wait() {
    const py::gil_scoped_release release;
    pending->wait();
}

bool PythonPending::test() {
    const py::gil_scoped_release release;
    return pending->test();
}

void add_started(py::module_& module) {
    const py::custom_type_setup type_setup(
        [](PyHeapTypeObject* type) { type->ht_type.tp_dealloc = &PythonPending::let_go; });
    py::class_<PythonPending>(module, "Pending", type_setup,
                              "A call that was started. Letting go of it waits for its end, but "
                              "not while a Ctrl-C goes by.")
        .def("wait", &PythonPending::wait, "Returns when the call is done; raises what went wrong.")
        .def("test", &PythonPending::test, "Makes progress; True once the call is done.");
    py::class_<PythonPrepared>(module, "Prepared",
                               "A call whose plan and arrays are fixed, to be run often.")
        .def("run", &PythonPrepared::run, "Runs it.")
        .def("start", &PythonPrepared::start, "Starts it.");
}

}  // namespace peal::python
