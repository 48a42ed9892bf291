// SPDX-License-Identifier: Apache-2.0
// From a program's text to its result, with nothing but the installed headers and library.
#include <array>
#include <cstdio>
#include <memory>
#include <peal/compile.hpp>
#include <peal/engine.hpp>
#include <peal/program.hpp>
#include <span>
#include <vector>

namespace {

constexpr const char* kProgram = R"(
kernel total(inp: in f32[n], out: out f32[n], data: window f32[n], sig: window i32[nranks]) {
    data = inp
    for peer in peers { notify sig[rank]@peer += 1 }
    for peer in peers { wait sig[peer] >= 1 }
    acc = data@0
    for r in 1..nranks { acc = acc + data@r }
    out = acc
}
)";

constexpr int kRanks = 2;
constexpr int kCount = 5;
using Vector = std::array<float, kCount>;

std::vector<Vector> sum_over_ranks(std::vector<Vector> inputs) {
    auto source = std::make_shared<const peal::Source>("total.peal", kProgram);
    peal::Bindings sizes;
    sizes.integers["n"] = kCount;
    const auto plans = peal::compile(peal::parse(source), "total", sizes, kRanks);

    auto data = peal::SymmetricMemory::window(kRanks, plans[0].buffers[2].bytes);
    auto signal = peal::SymmetricMemory::signal(kRanks, plans[0].buffers[3].cells);
    std::vector<Vector> outputs(kRanks);
    std::vector<std::vector<peal::Binding>> bindings;
    for (int rank = 0; rank < kRanks; ++rank) {
        bindings.push_back({{std::as_writable_bytes(std::span(inputs[rank]))},
                            {std::as_writable_bytes(std::span(outputs[rank]))},
                            {{}, &data},
                            {{}, &signal}});
    }
    peal::InProcessEngine(kRanks).run(plans, bindings);
    return outputs;
}

}  // namespace

int main() {
    const Vector expected = {11, 22, 33, 44, 55};
    for (const Vector& output : sum_over_ranks({{1, 2, 3, 4, 5}, {10, 20, 30, 40, 50}})) {
        if (output != expected) {
            std::fprintf(stderr, "wrong sum: %g ... %g, expected 11 ... 55\n", output.front(),
                         output.back());
            return 1;
        }
    }
    return 0;
}
