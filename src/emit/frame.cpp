// SPDX-License-Identifier: Apache-2.0
#include "emit/frame.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "emit/names.hpp"
#include "ir/effects.hpp"
#include "passes/rewrite.hpp"
#include "peal/error.hpp"
#include "peal/ops.hpp"
#include "peal/program.hpp"

namespace peal::emit {
namespace {

using namespace ir;  // NOLINT: reads the IR

// An expression as sizes on the command line are written.
std::string size_text(const ExprPtr& expr) {
    const ExprPtr ranks = variable("P", index_type());
    std::string text = print(passes::rewrite_expr(
        expr, [&](const ExprPtr& each) { return is_rank_count(each) ? ranks : each; }));
    std::erase(text, ' ');
    return text;
}

bool is_sayable(const ExprPtr& size) {
    if (as<Var>(size) || as<IntConst>(size) || is_rank_count(size)) return true;
    if (const auto* unary = as<Unary>(size)) {
        return unary->op != UnaryOp::logical_not && is_sayable(unary->operand);
    }
    constexpr BinaryOp kSayable[] = {BinaryOp::add, BinaryOp::sub, BinaryOp::mul, BinaryOp::div,
                                     BinaryOp::mod, BinaryOp::min, BinaryOp::max};
    const auto* node = as<Binary>(size);
    return node && std::count(std::begin(kSayable), std::end(kSayable), node->op) > 0 &&
           is_sayable(node->lhs) && is_sayable(node->rhs);
}

// Lists of arguments say sizes as pto::parameter_from reads them.
void require_size(const ExprPtr& size, const VarPtr& memory, const Trouble& trouble) {
    if (is_sayable(size)) return;
    trouble.fail(memory->span,
                 fmt::format("'{}': its size {} cannot be written in a list of arguments",
                             memory->name, print(size)),
                 "use + - * / % min max log2, nranks and symbols");
}

// "f32[64*P]"
std::string sized(const VarPtr& memory) {
    return fmt::format("{}[{}]", name(memory->type.element), size_text(count_of(memory)));
}

// Bytes of windows one after another, each from the beginning of a cache line on.
std::string bytes_text(const std::vector<VarPtr>& windows) {
    std::vector<std::string> parts;
    for (const VarPtr& window : windows) {
        const std::string bytes =
            fmt::format("{}*({})", bytes_of(window->type.element), size_text(count_of(window)));
        const bool is_last = &window == &windows.back();
        parts.push_back(is_last ? bytes : fmt::format("({}+63)/64*64", bytes));
    }
    return fmt::format("{}", fmt::join(parts, "+"));
}

}  // namespace

ExprPtr count_of(const VarPtr& memory) {
    ExprPtr count;
    for (const ExprPtr& dimension : memory->type.shape) {
        count = count ? binary(BinaryOp::mul, count, dimension) : dimension;
    }
    return count ? count : integer(1);
}

std::string text_of(const VarPtr& memory) {
    std::vector<std::string> shape;
    for (const ExprPtr& dimension : memory->type.shape) shape.push_back(print(dimension));
    return fmt::format("{}[{}]", name(memory->type.element), fmt::join(shape, ", "));
}

// ---------------------------------------------------------------------------- the list

Frame::Frame(const Program& program, const ir::Kernel& source, const Trouble& trouble)
    : kernel(source.name) {
    const UsageMap usage = usage_of(source, program);
    for (const Param& param : source.params) {
        const auto use = usage.find(param.var->name);
        add_parameter(param, use != usage.end() && use->second.as_signal, trouble);
    }
    int next = static_cast<int>(tensors.size());
    if (!windows.empty() || !signals.empty()) scratch = next++;
    nranks = next++;
    for (const VarPtr& symbol : symbols_of(source)) {
        if (symbol->name == "P") {
            trouble.fail(symbol->span,
                         "'P' is the number of ranks in a list of arguments, and no other symbol",
                         "rename it");
        }
        if (!solve(symbol)) scalars.push_back({symbol, 0});
    }
    for (Scalar& scalar : scalars) scalar.argument = next++;
    context = next++;
    generation = next;
}

void Frame::add_parameter(const Param& param, bool is_signal, const Trouble& trouble) {
    const VarPtr& var = param.var;
    switch (var->type.kind) {
        case Type::Kind::tensor:
            tensors.push_back({var, param.direction, static_cast<int>(tensors.size())});
            break;
        case Type::Kind::window: (is_signal ? signals : windows).push_back(var); break;
        case Type::Kind::scalar:
            if (!var->type.is_integer()) {
                trouble.fail(
                    var->span,
                    fmt::format("'{}': a kernel of the device takes integers only", var->name),
                    "write the number into the program");
            }
            scalars.push_back({var, 0});
            break;
        default:
            trouble.fail(
                var->span,
                fmt::format("'{}': tables cannot be passed to a kernel of the device", var->name),
                "use scalars, or compute the numbers from rank and nranks");
    }
    for (const ExprPtr& dimension : var->type.shape) require_size(dimension, var, trouble);
    if (var->type.is_memory() && !is_signal && bytes_of(var->type.element) == 8) {
        trouble.fail(var->span,
                     fmt::format("'{}': the device has no elements of type {}", var->name,
                                 name(var->type.element)),
                     "use f32, f16, bf16, i32, i16, i8 or u8");
    }
}

bool Frame::solve(const VarPtr& symbol) {
    for (const Tensor& tensor : tensors) {
        if (solve_by(symbol, tensor.var, tensor.argument)) return true;
    }
    return windows.size() == 1 && solve_by(symbol, windows.front(), scratch);
}

// The symbol is one dimension; the others are constants or the number of ranks.
bool Frame::solve_by(const VarPtr& symbol, const VarPtr& memory, int argument) {
    ExprPtr divisor;
    int found = 0;
    for (const ExprPtr& dimension : memory->type.shape) {
        const auto* var = as<Var>(dimension);
        if (var && var->name == symbol->name) {
            ++found;
        } else if (is_rank_count(dimension) || as<IntConst>(dimension)) {
            divisor = divisor ? binary(BinaryOp::mul, divisor, dimension) : dimension;
        } else {
            return false;
        }
    }
    if (found != 1) return false;
    symbols.push_back({symbol, argument, divisor});
    return true;
}

// ---------------------------------------------------------------------------- texts

std::vector<std::string> Frame::parameter_texts() const {
    std::vector<std::string> texts;
    for (const Tensor& tensor : tensors) {
        texts.push_back(fmt::format("{}:{}", name(tensor.direction), sized(tensor.var)));
    }
    if (scratch >= 0) {
        std::vector<std::string> parts;
        if (windows.size() == 1) parts.push_back(sized(windows.front()));
        if (windows.size() > 1) parts.push_back(fmt::format("u8[{}]", bytes_text(windows)));
        if (!signals.empty()) {
            std::vector<std::string> rows;
            for (const VarPtr& signal : signals) rows.push_back(size_text(count_of(signal)));
            std::string all = fmt::format("{}", fmt::join(rows, "+"));
            // A name would go on with the x.
            const bool has_names = std::any_of(all.begin(), all.end(),
                                               [](unsigned char c) { return std::isalpha(c); });
            if (has_names && all != "P") all = fmt::format("({})", all);
            parts.push_back(fmt::format("signals:{}x{}", all, kCellsPerRow));
        }
        texts.push_back(fmt::format("window:{}", fmt::join(parts, "+")));
    }
    texts.emplace_back("nranks");
    for (const Scalar& scalar : scalars) texts.push_back("scalar:" + scalar.var->name);
    texts.emplace_back("context");
    texts.emplace_back("generation");
    return texts;
}

std::string Frame::orchestration() const {
    std::string text = fmt::format(
        "// SPDX-License-Identifier: Apache-2.0\n"
        "// Submits the kernel `{}`: forwards its {} tensors and {} scalars.\n"
        "#include \"pto_orchestration_api.h\"\n\n"
        "constexpr int kKernel = 0;  // its number among the kernels of the program\n\n"
        "extern \"C\" PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs &) {{\n"
        "    return PTO2OrchestrationConfig{{.expected_arg_count = {}}};\n"
        "}}\n\n"
        "extern \"C\" void aicpu_orchestration_entry(const ChipTaskArgs &task) {{\n"
        "    CoreTaskArgs args;\n",
        kernel, memory_arguments(), arguments() - memory_arguments(), arguments());
    for (const Tensor& tensor : tensors) {
        const std::string_view how = tensor.direction == Direction::in    ? "input"
                                     : tensor.direction == Direction::out ? "output"
                                                                          : "inout";
        text += fmt::format("    args.add_{}(task.tensor({}).ref());  // {}\n", how,
                            tensor.argument, tensor.var->name);
    }
    if (scratch >= 0)
        text += fmt::format("    args.add_inout(task.tensor({}).ref());  // windows\n", scratch);
    const auto scalar = [&](int argument, std::string_view what) {
        text += fmt::format("    args.add_scalar(task.scalar({}));  // {}\n",
                            argument - memory_arguments(), what);
    };
    scalar(nranks, "nranks");
    for (const Scalar& each : scalars) scalar(each.argument, each.var->name);
    scalar(context, "CommContext*");
    scalar(generation, "earlier calls on these windows");
    text += "    rt_submit_aiv_task(kKernel, args);\n}\n";
    return text;
}

}  // namespace peal::emit

namespace peal::pto {

std::vector<Parameter> parameters_of(const ir::Program& program, std::string_view kernel,
                                     const Bindings& bindings, int nranks) {
    const ir::Program lowered = lower(program);
    const ir::Kernel* found = lowered.find(kernel);
    if (!found) {
        throw Error(Fault::usage, fmt::format("there is no kernel '{}'", kernel));
    }
    const emit::Frame frame(lowered, *found, emit::Trouble(lowered.source.get()));
    std::vector<Parameter> list;
    for (const std::string& text : frame.parameter_texts()) {
        list.push_back(parameter_from(text, nranks, bindings));
    }
    return list;
}

}  // namespace peal::pto
