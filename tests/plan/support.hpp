// SPDX-License-Identifier: Apache-2.0
// Short ways to write plans by hand.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "peal/error.hpp"
#include "peal/plan.hpp"

namespace peal::testing {

inline Buffer argument(std::string name, std::uint64_t bytes, Direction direction = Direction::in,
                       Element element = Element::f32) {
    return {std::move(name), BufferKind::argument, direction, element, bytes, 0, kCacheLineBytes};
}

inline Buffer window(std::string name, std::uint64_t bytes, Element element = Element::f32) {
    return {std::move(name), BufferKind::window, Direction::inout, element, bytes, 0,
            kCacheLineBytes};
}

inline Buffer signal(std::string name, std::uint64_t cells, Element element = Element::i32,
                     std::uint64_t stride = kCacheLineBytes) {
    return {std::move(name), BufferKind::signal, Direction::inout, element, 0, cells, stride};
}

// The buffers of sample_plan.
inline constexpr std::uint16_t kInp = 0, kOut = 1, kData = 2, kSig = 3;

// A valid plan with one instruction of every kind: rank 1 of 3.
inline Plan sample_plan() {
    Plan plan;
    plan.kernel = "sample";
    plan.rank = 1;
    plan.nranks = 3;
    plan.buffers = {argument("inp", 64), argument("out", 64, Direction::out), window("data", 64),
                    signal("sig", 3)};
    plan.advance = {0, 0, 0, 2};
    plan.tile_bytes = 128;
    plan.source = std::make_shared<const Source>(
        "sample.peal", "kernel sample() {\n    data = inp\n    # ...\n}\n");
    const Range tile{kTile, 1, 64, 64};
    const auto add = [&](Action action, std::uint32_t line, Pipe pipe = Pipe::none) {
        plan.instructions.push_back({std::move(action), pipe, line});
    };
    add(Copy{{kData, 1, 0, 64}, {kInp, 1, 0, 64}}, 2);
    add(Notify{NotifyOp::set, {kSig, 2, 1}, {1, 1}}, 3);
    add(Notify{NotifyOp::add, {kSig, 1, 0}, {5, 0}}, 0);
    add(Wait{Compare::ge, {kSig, 1, 2}, {-1, 2}}, 3);
    add(Reduce{ReduceOp::sum, Element::f32, tile, {{kData, 0, 0, 64}, {kData, 2, 0, 64}}}, 3);
    add(Map{MapOp::fill, Element::f32, 0.5, {kTile, 1, 0, 64}, {}}, 0);
    add(Map{MapOp::mul_scalar, Element::f32, 0.1, {kOut, 1, 0, 64}, tile}, 0, Pipe::vector);
    add(SetFlag{Pipe::load, Pipe::vector, 3}, 0);
    add(WaitFlag{Pipe::load, Pipe::vector, 3}, 0);
    add(PipeBarrier{Pipe::all}, 0);
    add(Copy{{kData, 2, 0, 64}, {kInp, 1, 0, 64}}, 0);
    plan.instructions.back().group = 2;
    add(Fence{2}, 0);
    add(Map{MapOp::fill, Element::i32, 7, {kData, 1, 0, 4}, {}}, 0, Pipe::scalar);
    plan.instructions.back().group = kCached;
    add(Evict{{kData, 1, 0, 64}}, 0);
    add(Fence{}, 0);
    return plan;
}

// The message of the Error that `action` throws; a note when it throws none or one of another
// fault.
inline std::string error_of(const std::function<void()>& action, Fault fault = Fault::program) {
    try {
        action();
    } catch (const Error& error) {
        return error.fault() == fault ? error.what() : "wrong fault: " + std::string(error.what());
    }
    return "no error";
}

}  // namespace peal::testing
