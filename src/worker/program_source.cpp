// SPDX-License-Identifier: Apache-2.0
// Kernels that come as programs. Their arguments say what is still open: shape symbols and scalars.
#include <algorithm>
#include <list>
#include <mutex>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "peal/compile.hpp"
#include "peal/error.hpp"
#include "peal/program.hpp"
#include "worker/domain_state.hpp"
#include "worker/inside.hpp"
#include "worker/kernel_source.hpp"

namespace peal::worker {
namespace {

using Kind = ir::Type::Kind;

class ProgramSource : public KernelSource {
public:
    ProgramSource(ir::Program program, std::string_view kernel, Bindings bindings,
                  std::optional<Collective> collective)
        : KernelSource(std::string(kernel)),
          program_(std::move(program)),
          bindings_(std::move(bindings)),
          collective_(std::move(collective)) {
        const ir::Kernel* found = program_.find(kernel);
        if (found == nullptr) reject("the program has no such kernel");
        for (const ir::Param& param : found->params) {
            if (is_bound(*param.var)) continue;
            if (param.var->type.is_memory()) memory_.push_back(passed_.size());
            passed_.push_back(&param);
        }
        for (const ir::VarPtr& symbol : ir::symbols_of(*found)) {
            if (!bindings_.integers.contains(symbol->name)) open_symbols_.push_back(symbol->name);
        }
    }

    CompiledPtr compiled_for(std::span<const Arguments> members, int nranks) override {
        for (const Arguments& arguments : members) expect_kinds(arguments);
        Bindings bindings = bindings_;
        bind_symbols(members[0], bindings);
        bind_scalars(members[0], bindings);
        for (const Arguments& arguments : members) {
            expect_same_scalars(members[0], arguments);
            expect_dimensions(arguments, bindings, nranks);
        }
        return compiled(std::move(bindings), nranks);
    }

    CompiledPtr compiled_for(int nranks) override { return compiled(bindings_, nranks); }

private:
    static constexpr std::size_t kKept = 128;

    [[noreturn]] void reject(const std::string& why) const {
        throw Error(Fault::usage, fmt::format("kernel {}: {}", name(), why));
    }
    [[noreturn]] void reject(const ir::Param& param, const std::string& expected,
                             const std::string& found) const {
        reject(
            fmt::format("parameter '{}': expected {}, found {}", param.var->name, expected, found));
    }

    bool is_bound(const ir::Var& var) const {
        if (var.type.kind == Kind::table) return bindings_.tables.contains(var.name);
        if (var.type.kind != Kind::scalar) return false;
        return var.type.is_integer() ? bindings_.integers.contains(var.name)
                                     : bindings_.numbers.contains(var.name);
    }

    // ---- do the arguments fit?

    static std::string describe(const Argument& argument) {
        struct Text {
            std::string operator()(const Tensor& tensor) const {
                return to_text(tensor.element(), tensor.shape());
            }
            std::string operator()(const DomainWindow& window) const {
                return fmt::format("the window '{}'", window.name());
            }
            std::string operator()(std::int64_t number) const { return std::to_string(number); }
            std::string operator()(double number) const { return fmt::format("{}", number); }
            std::string operator()(const std::vector<std::int64_t>& table) const {
                return fmt::format("a table of {} numbers", table.size());
            }
        };
        return std::visit(Text(), argument.value);
    }

    static bool is_kind(const Argument& argument, const ir::Type& type) {
        switch (type.kind) {
            case Kind::tensor: return std::holds_alternative<Tensor>(argument.value);
            case Kind::window: return std::holds_alternative<DomainWindow>(argument.value);
            case Kind::table:
                return std::holds_alternative<std::vector<std::int64_t>>(argument.value);
            case Kind::scalar:
                return std::holds_alternative<std::int64_t>(argument.value) ||
                       (!type.is_integer() && std::holds_alternative<double>(argument.value));
            default: return false;
        }
    }

    void expect_kinds(const Arguments& arguments) const {
        if (arguments.size() != passed_.size()) {
            std::vector<std::string_view> names;
            for (const ir::Param* param : passed_) names.push_back(param->var->name);
            reject(fmt::format("expected {} arguments, for {}; found {}", passed_.size(),
                               fmt::join(names, ", "), arguments.size()));
        }
        for (std::size_t i = 0; i < passed_.size(); ++i) {
            const ir::Type& type = passed_[i]->var->type;
            if (is_kind(arguments[i], type)) continue;
            const std::string_view what = type.kind == Kind::tensor   ? "the tensor "
                                          : type.kind == Kind::window ? "the window "
                                          : type.kind == Kind::table  ? "the table "
                                                                      : "the number ";
            reject(*passed_[i], std::string(what) + print(type), describe(arguments[i]));
        }
    }

    // Scalars are part of the compiled kernel, so its ranks cannot differ in them.
    void expect_same_scalars(const Arguments& first, const Arguments& other) const {
        for (std::size_t i = 0; i < passed_.size(); ++i) {
            if (passed_[i]->var->type.is_memory()) continue;
            if (describe(first[i]) == describe(other[i])) continue;
            reject(*passed_[i], fmt::format("{} as for rank 0", describe(first[i])),
                   describe(other[i]));
        }
    }

    // A tensor of one dimension fits every shape; whether it has as many elements is for others to
    // see.
    void expect_dimensions(const Arguments& arguments, const Bindings& bindings, int nranks) const {
        for (std::size_t i = 0; i < passed_.size(); ++i) {
            const auto* tensor = std::get_if<Tensor>(&arguments[i].value);
            if (tensor == nullptr || tensor->shape().size() == 1) continue;
            const ir::Type& type = passed_[i]->var->type;
            bool fits = tensor->shape().size() == type.shape.size();
            for (std::size_t d = 0; fits && d < type.shape.size(); ++d) {
                const std::optional<std::int64_t> size = size_of(type.shape[d], bindings, nranks);
                fits = !size || static_cast<std::uint64_t>(*size) == tensor->shape()[d];
            }
            if (!fits) {
                reject(*passed_[i], print(type) + with_values(bindings), describe(arguments[i]));
            }
        }
    }

    std::string with_values(const Bindings& bindings) const {
        std::vector<std::string> values;
        for (const std::string& symbol : open_symbols_) {
            values.push_back(fmt::format("{} = {}", symbol, bindings.integers.at(symbol)));
        }
        return values.empty() ? "" : fmt::format(" with {}", fmt::join(values, ", "));
    }

    // Of a dimension that is a number, a symbol or nranks.
    static std::optional<std::int64_t> size_of(const ir::ExprPtr& dimension,
                                               const Bindings& bindings, int nranks) {
        if (const auto* number = ir::as<ir::IntConst>(dimension)) return number->value;
        if (ir::equal(dimension, ir::nranks())) return nranks;
        const auto* symbol = ir::as<ir::Var>(dimension);
        if (symbol == nullptr) return std::nullopt;
        const auto found = bindings.integers.find(symbol->name);
        return found == bindings.integers.end() ? std::nullopt : std::optional(found->second);
    }

    // ---- what the arguments say

    static const Dimensions* shape_of(const Argument& argument) {
        if (const auto* tensor = std::get_if<Tensor>(&argument.value)) return &tensor->shape();
        const auto& window = std::get<DomainWindow>(argument.value);
        const WindowSpec& spec = Inside::domain(window)->windows[Inside::index(window)].spec;
        return spec.cells == 0 ? &spec.shape : nullptr;
    }

    // From tensors first: a window may be larger than what is needed of it.
    void bind_symbols(const Arguments& arguments, Bindings& bindings) const {
        for (const std::string& symbol : open_symbols_) {
            for (const Kind kind : {Kind::tensor, Kind::window}) {
                if (bindings.integers.contains(symbol)) break;
                bind_symbol(symbol, kind, arguments, bindings);
            }
            if (!bindings.integers.contains(symbol)) {
                reject(
                    fmt::format("the value of '{}' cannot be told from the arguments; give it "
                                "with the kernel's bindings",
                                symbol));
            }
        }
    }

    void bind_symbol(const std::string& symbol, Kind kind, const Arguments& arguments,
                     Bindings& bindings) const {
        for (std::size_t i = 0; i < passed_.size(); ++i) {
            const ir::Type& type = passed_[i]->var->type;
            if (type.kind != kind) continue;
            const Dimensions* shape = shape_of(arguments[i]);
            if (shape == nullptr || shape->size() != type.shape.size()) continue;
            for (std::size_t d = 0; d < type.shape.size(); ++d) {
                const auto* var = ir::as<ir::Var>(type.shape[d]);
                if (var == nullptr || var->name != symbol) continue;
                bindings.integers.emplace(symbol, static_cast<std::int64_t>((*shape)[d]));
                return;
            }
        }
    }

    void bind_scalars(const Arguments& arguments, Bindings& bindings) const {
        for (std::size_t i = 0; i < passed_.size(); ++i) {
            const ir::Var& var = *passed_[i]->var;
            const Argument::Value& value = arguments[i].value;
            if (var.type.kind == Kind::table) {
                bindings.tables.emplace(var.name, std::get<std::vector<std::int64_t>>(value));
            } else if (var.type.is_integer()) {
                bindings.integers.emplace(var.name, std::get<std::int64_t>(value));
            } else if (var.type.kind == Kind::scalar) {
                const auto* integer = std::get_if<std::int64_t>(&value);
                bindings.numbers.emplace(var.name, integer != nullptr
                                                       ? static_cast<double>(*integer)
                                                       : std::get<double>(value));
            }
        }
    }

    // ---- compiling

    struct Entry {
        int nranks;
        Bindings bindings;
        CompiledPtr kernel;
    };

    CompiledPtr compiled(Bindings bindings, int nranks) {
        const std::lock_guard lock(mutex_);
        const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
            return entry.nranks == nranks && entry.bindings == bindings;
        });
        if (found != entries_.end()) {
            entries_.splice(entries_.begin(), entries_, found);
            return found->kernel;
        }
        CompileOptions options;
        if (collective_) {
            validate(*collective_, nranks);
            options.lanes = lanes_of(*collective_);
        }
        auto kernel = std::make_shared<CompiledKernel>(
            compile(program_, name(), bindings, nranks, options), memory_, collective_);
        entries_.push_front({nranks, std::move(bindings), kernel});
        if (entries_.size() > kKept) entries_.pop_back();
        return kernel;
    }

    const ir::Program program_;
    const Bindings bindings_;
    const std::optional<Collective> collective_;
    std::vector<const ir::Param*> passed_;  // parameters that arguments are for
    std::vector<std::size_t> memory_;       // of these, those that are memory
    std::vector<std::string> open_symbols_;

    std::mutex mutex_;
    std::list<Entry> entries_;  // the last used first
};

// The smallest number of ranks that may make sense of it.
int fewest_ranks(const Collective& collective) {
    if (!facts_of(collective.kind).is_counted()) return std::max(collective.root, 0) + 1;
    int ranks = 1;
    while (static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks) <
           collective.counts.size()) {
        ++ranks;
    }
    return ranks;
}

}  // namespace

std::shared_ptr<KernelSource> source_of(ir::Program program, std::string_view kernel,
                                        Bindings bindings) {
    return std::make_shared<ProgramSource>(std::move(program), kernel, std::move(bindings),
                                           std::nullopt);
}

std::shared_ptr<KernelSource> source_of(Collective collective) {
    validate(collective, fewest_ranks(collective));
    ir::Program program = program_of(collective);
    Bindings bindings = bindings_of(collective);
    const std::string_view kernel = peal::name(collective.kind);
    return std::make_shared<ProgramSource>(std::move(program), kernel, std::move(bindings),
                                           std::move(collective));
}

}  // namespace peal::worker
