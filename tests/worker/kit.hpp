// SPDX-License-Identifier: Apache-2.0
// What the tests of the worker have in common.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "peal/program.hpp"
#include "peal/worker.hpp"
#include "shm/leftovers.hpp"
#include "shm/thrown.hpp"

namespace peal::worker::test {

using shm::test::Leftovers;
using shm::test::leftovers;
using shm::test::message_of;

// The thread sanitizer does not follow a process that was forked from one with threads.
inline std::vector<DeviceEngine> engines() {
#ifdef __SANITIZE_THREAD__
    return {DeviceEngine::in_process};
#else
    return {DeviceEngine::processes, DeviceEngine::in_process};
#endif
}
// A process may be forked while other threads allocate: glibc's allocator is made for it, that of
// the address sanitizer is not.
inline bool allocator_survives_fork() {
#ifdef __SANITIZE_ADDRESS__
    return false;
#else
    return true;
#endif
}
inline bool can_fork() { return engines().front() == DeviceEngine::processes; }

class OnEngines : public ::testing::TestWithParam<DeviceEngine> {
protected:
    Worker worker_of(int ranks) const { return Worker({.ranks = ranks, .engine = GetParam()}); }
};
inline std::string engine_name(const ::testing::TestParamInfo<DeviceEngine>& info) {
    return info.param == DeviceEngine::processes ? "processes" : "threads";
}

inline ir::Program program(std::string_view text) {
    return parse(std::make_shared<Source>("test.peal", std::string(text)));
}
inline DeviceKernel kernel(std::string_view text) { return DeviceKernel(program(text)); }

// out = inp + by, element by element.
inline const DeviceKernel& add_kernel() {
    static const DeviceKernel kKernel = kernel(R"(
kernel add(inp: in i32[n], out: out i32[n], by: index) { out = inp + by }
)");
    return kKernel;
}

// It ends when somebody has rung: a task that is not over until the test wants it.
inline const DeviceKernel& wait_kernel() {
    static const DeviceKernel kKernel = kernel(R"(
kernel hold(sig: window i32[nranks]) {
    wait sig[rank] >= generation(sig) + 1
    advance sig by 1
}
)");
    return kKernel;
}

// Rank 0 of the domain rings everybody.
inline const DeviceKernel& ring_kernel() {
    static const DeviceKernel kKernel = kernel(R"(
kernel release(sig: window i32[nranks]) {
    for r in 0..nranks { notify sig[r]@r = 1 }
}
)");
    return kKernel;
}

inline Collective collective(CollectiveKind kind, Element element, std::uint64_t count) {
    Collective wanted;
    wanted.kind = kind;
    wanted.element = element;
    wanted.count = count;
    return wanted;
}
inline DeviceKernel allreduce(Element element, std::uint64_t count) {
    return DeviceKernel(collective(CollectiveKind::allreduce, element, count));
}

inline std::vector<std::int32_t> numbers(std::size_t count, std::int32_t first) {
    std::vector<std::int32_t> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = first + static_cast<std::int32_t>(i);
    return values;
}

}  // namespace peal::worker::test
