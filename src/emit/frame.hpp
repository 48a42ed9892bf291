// SPDX-License-Identifier: Apache-2.0
// How an emitted kernel gets its arguments: the descriptors of private memory, one for all windows
// and signals together, nranks, scalars, the communication context, the generation.
#pragma once

#include <string>
#include <vector>

#include "emit/trouble.hpp"
#include "peal/ir.hpp"
#include "peal/pto.hpp"

namespace peal::emit {

// Signals are rows of this many int32, one row for each cell: one writer, one cache line.
inline constexpr int kCellsPerRow = 16;

struct Frame {
    Frame(const ir::Program& program, const ir::Kernel& kernel, const Trouble& trouble);

    struct Tensor {
        ir::VarPtr var;
        Direction direction;
        int argument;
    };
    struct Scalar {
        ir::VarPtr var;
        int argument;
    };
    // A symbol is the number of elements of an argument, over `divisor` (null: 1).
    struct Symbol {
        ir::VarPtr var;
        int argument;
        ir::ExprPtr divisor;
    };

    std::string kernel;
    std::vector<Tensor> tensors;
    std::vector<ir::VarPtr> windows;  // of data, one after another in the scratch window
    std::vector<ir::VarPtr> signals;  // behind them
    std::vector<Scalar> scalars;      // and symbols that no argument's size tells
    std::vector<Symbol> symbols;
    int scratch = -1;  // argument numbers; -1: there is none
    int nranks = 0;
    int context = 0;
    int generation = 0;

    int arguments() const { return generation + 1; }
    int memory_arguments() const { return nranks; }

    // As --arg takes them, but for the symbols in their sizes.
    std::vector<std::string> parameter_texts() const;
    std::string orchestration() const;

private:
    void add_parameter(const ir::Param& param, bool is_signal, const Trouble& trouble);
    bool solve(const ir::VarPtr& symbol);
    bool solve_by(const ir::VarPtr& symbol, const ir::VarPtr& memory, int argument);
};

// Elements of a memory parameter.
ir::ExprPtr count_of(const ir::VarPtr& memory);

// "f32[n]"
std::string text_of(const ir::VarPtr& memory);

}  // namespace peal::emit
