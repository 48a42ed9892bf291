// SPDX-License-Identifier: Apache-2.0
// PTO kernels: C++ kernels on a tile processor's instructions, as plans and from programs.
//
//   const pto::Kernel kernel = pto::Kernel::compile("ring.cpp");
//   const std::vector<pto::Parameter> parameters = pto::preset(collective, nranks);
//   const std::vector<Plan> plans = pto::trace(kernel, parameters, nranks);
//
// The plans have pipes and flags, as the kernel has them; they are checked, run and drawn like all
// others. docs/pto.md says how to bring a kernel and what is modelled.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "peal/collective.hpp"
#include "peal/compile.hpp"
#include "peal/ir.hpp"
#include "peal/plan.hpp"

namespace peal::pto {

// ---------------------------------------------------------------------------- kernels

struct KernelOptions {
    std::string compiler;  // empty: $CXX, or c++
    std::vector<std::string> include_directories;
    std::vector<std::string> defines;                // "NAME" or "NAME=value"
    std::chrono::milliseconds load_timeout{10'000};  // of what it does before its entry is called
};

// A kernel's source, compiled with the system's compiler against Peal's PTO headers. What was
// compiled before, from all the same text that the preprocessor finds and with the same options, is
// taken from the cache ($PEAL_CACHE, or peal/ in the user's cache directory). Where that cannot be
// used, a temporary directory takes its place, and stderr says so.
class Kernel {
public:
    // Throws Error(usage) if the file cannot be read, Error(program) with the compiler's words if
    // it does not compile, or has no kernel_entry.
    static Kernel compile(const std::string& path, const KernelOptions& options = {});

    const std::string& name() const;     // the file's, without directory and extension
    const std::string& path() const;     // of the source
    const std::string& library() const;  // path of what was compiled

    struct State;

private:
    explicit Kernel(std::shared_ptr<const State> state);
    std::shared_ptr<const State> state_;
};

// ---------------------------------------------------------------------------- parameters

// One argument of kernel_entry. Its buffers in the plan, if any, carry its name: "in", "out",
// "window"; the signals behind a window are "signals".
struct Parameter {
    enum class Kind : std::uint8_t {
        in,  // descriptor of private memory
        out,
        inout,
        window,  // descriptor of symmetric memory: data, then signals
        scalar,  // `value`
        nranks,
        rank,
        context,     // CommContext*
        generation,  // how many calls on these windows came before this one
        address,     // of byte `value` of the rank's windows, as a number
    };
    Kind kind = Kind::scalar;
    Element element = Element::f32;
    std::uint64_t count = 0;  // elements
    // Windows: rows of int32 cells, from the first 64-byte line after the data on. None: those
    // words of the data that the kernel rings and waits for are its signals.
    std::uint64_t signal_rows = 0;
    std::uint64_t signal_columns = 16;
    std::int64_t value = 0;
    std::vector<std::uint64_t> shape = {};  // as its descriptor tells; empty: one dimension

    bool operator==(const Parameter&) const = default;
};

std::string_view name(Parameter::Kind kind);  // "in", "nranks"

// "in:f32[256]", "out:f32[P,64]", "window:f32[256]+signals:2x16", "scalar:7", "address:1024",
// "nranks", "rank", "context", "generation". Sizes and scalars are integer expressions with + - * /
// %, min, max, log2, P, the number of ranks, and names that have values. Throws Error(usage).
Parameter parameter_from(std::string_view text, int nranks, const Bindings& names = {});

// The names that a parameter makes use of, without P.
std::set<std::string> names_in(std::string_view parameter);

// What the source of a kernel says of itself, so that nobody has to type it:
//
//   // peal: --arg in:f32[n]      what it is, in words
//   // peal: --as allreduce
//
// One option and its value to a line; what follows them is for people.
struct Declared {
    std::vector<std::string> arguments;  // --arg, in order
    std::string as;                      // --as, or empty
    std::string op;                      // --op
    std::string device;                  // --device, or empty
    std::vector<std::string> settings;   // --set name=value
};
// Throws Error(usage) if the file cannot be read and Error(program) for a line that says anything
// else.
Declared declared_in(const std::string& path);
// A line of it.
std::string declaration(std::string_view option, std::string_view value, std::string_view words);

// The seeds' argument list for a collective: in, out, window, nranks, (broadcast: the root,)
// context, and behind them the generation for kernels that look for it. `collective.count` is the
// number of elements of a rank, as everywhere. Throws Error(usage) for a collective that has none.
std::vector<Parameter> preset(const Collective& collective, int nranks);

// ---------------------------------------------------------------------------- trace

struct TraceOptions {
    int calls = 3;  // in a row on the same windows, that the plans will be checked or run for
    std::chrono::milliseconds timeout{10'000};  // of one call of one rank
    std::uint64_t max_operations = 1'000'000;   // of one call of one rank
    // Cores of a rank: the kernel is traced for each of them, and becomes a lane of the plan. Each
    // has its own pipes, flags and tile memory.
    int blocks = 1;
};

// Runs the kernel for each rank, in processes of their own and on addresses that cannot be touched,
// and writes down what it asks the device to do. Throws Error(program) when it touches data itself
// or lets it decide ("not traceable"), throws, crashes or does not return, or uses the device in a
// way that has no meaning; the message names rank and line.
//
// Values of signals may grow by a constant from one generation to the next; the plan then has them
// as Value::per_generation, and its signals advance by 1 each call. Nothing else may depend on it.
// A kernel with a generation is run for each of `calls` of them, for 0 to 31 at least, and for a
// few that are far beyond (docs/pto.md lists them); all of them must agree. What is done in other
// generations is not known.
std::vector<Plan> trace(const Kernel& kernel, const std::vector<Parameter>& parameters, int nranks,
                        const TraceOptions& options = {});

// ---------------------------------------------------------------------------- emit

enum class Device : std::uint8_t { a2a3, a5 };
std::string_view name(Device device);
DeviceRules rules_of(Device device);

struct Emitted {
    std::string kernel;         // C++ source of the kernel
    std::string orchestration;  // C++ source of the shim that submits it
    // Its arguments, with the program's symbols and scalars in their places: "in:f32[n]",
    // "window:f32[n]+signals:Px16", "scalar:root". The kernel declares them, too.
    std::vector<std::string> parameters;
};

// A PTO kernel in C++ for one kernel of a program, for all ranks and rank counts. Composite
// operations are lowered first. The kernel's source declares its arguments, and what `more` says of
// its meaning and of values. Throws Error(program) for what a device cannot do: the message names
// the line and says what to write instead.
Emitted emit(const ir::Program& program, std::string_view kernel, Device device,
             const Declared& more = {});

// The arguments of the emitted kernel for these sizes and scalars, as trace() takes them.
std::vector<Parameter> parameters_of(const ir::Program& program, std::string_view kernel,
                                     const Bindings& bindings, int nranks);

}  // namespace peal::pto
