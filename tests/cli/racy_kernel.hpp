// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace peal::test {

// The next call overwrites what a slow peer still reads.
inline constexpr const char* kRacy =
    R"(kernel racy(inp: in f32[n], out: out f32[n], data: window f32[n], sig: window i32[nranks]) {
    data = inp
    for peer in peers { notify sig[rank]@peer = generation(sig) + 1 }
    for peer in peers { wait sig[peer] >= generation(sig) + 1 }
    out = data@((rank + 1) % nranks)
    advance sig by 1
}
)";

}  // namespace peal::test
