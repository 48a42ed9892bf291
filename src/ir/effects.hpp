// SPDX-License-Identifier: Apache-2.0
// What a kernel does to its memory parameters, as the registry tells it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "peal/ir.hpp"

namespace peal::ir {

// Every call of a block once, parents before children. Nodes are shared, and the tree of what is
// shared can be many times as large.
std::vector<const Call*> calls_of(const Block& block);

struct Usage {
    bool read = false;
    bool written = false;
    bool as_signal = false;
    bool as_data = false;
    // Where each was first seen, for messages.
    Span read_at, written_at, signal_at, data_at;
    std::string reader, writer;  // the op or kernel that did it

    Direction direction() const;
};

using UsageMap = std::map<std::string, Usage, std::less<>>;

// By parameter name; parameters that are not touched are missing. Invoked kernels count with what
// they do; a kernel that invokes itself counts once.
UsageMap usage_of(const Kernel& kernel, const Program& program);

}  // namespace peal::ir
