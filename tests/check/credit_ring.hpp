// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace peal::test {

// A ring allreduce whose ranks take back what they have seen, so that its signals end at zero.
inline constexpr const char* kCreditRing = R"(
kernel ring(inp: in f32[nranks, k], out: out f32[nranks, k],
            data: window f32[nranks, k], sig: window i32[2 * nranks - 1]) {
    let left = (rank - 1) % nranks
    let right = (rank + 1) % nranks
    let rounds = 2 * (nranks - 1)
    data = inp
    for s in 0..rounds {
        notify sig[s]@right += 1
        wait sig[s] >= 1
        notify sig[s] += -1
        let part = (rank - s - 2) % nranks
        if s < nranks - 1 {
            data[part] = data@left[part] + data[part]
        } else {
            data[part] = data@left[part]
        }
    }
    notify sig[rounds]@left += 1
    wait sig[rounds] >= 1
    notify sig[rounds] += -1
    out = data
})";

}  // namespace peal::test
