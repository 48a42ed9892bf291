// SPDX-License-Identifier: Apache-2.0
// What the plan of one rank does, in the most obvious way. The peers are played by a hostile world:
// at every notify and wait it looks at all windows and then scrambles them. So a read or a write
// that crosses a sync changes what is seen.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "plan/access.hpp"

namespace peal::testing {

class Reference {
public:
    using Bytes = std::vector<std::byte>;
    using Memory = std::map<std::pair<std::uint16_t, std::int32_t>, Bytes>;  // buffer, rank

    Reference(const Plan& plan, std::uint64_t seed) : plan_(plan), random_(seed) {
        tiles_.resize(plan.tile_bytes);
        for (std::uint16_t b = 0; b < plan.buffers.size(); ++b) {
            const Buffer& buffer = plan.buffers[b];
            const bool is_window = buffer.kind == BufferKind::window;
            for (std::int32_t r = 0; r < plan.nranks; ++r) {
                if (!is_window && r != plan.rank) continue;
                Bytes& bytes = (is_window ? windows_ : arguments_)[{b, r}];
                bytes.resize(buffer.bytes);
                scramble(bytes);
            }
        }
    }

    void run() {
        for (const Instruction& instruction : plan_.instructions) {
            std::visit([&](const auto& action) { step(action); }, instruction.action);
        }
        seen_.push_back(windows_);
    }

    // The windows as peers could see them: at each sync, and at the end.
    const std::vector<Memory>& seen() const { return seen_; }
    const Memory& arguments() const { return arguments_; }

private:
    std::byte* at(const Range& range) {
        if (range.buffer == kTile) return tiles_.data() + range.offset;
        const bool is_window = plan_.buffers[range.buffer].kind == BufferKind::window;
        Memory& memory = is_window ? windows_ : arguments_;
        return memory.at({range.buffer, range.rank}).data() + range.offset;
    }

    // Small whole numbers of very different sizes: sums of f32 then depend on their order.
    void scramble(Bytes& bytes) {
        for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4) {
            const auto digit = static_cast<float>(random_() % 200 + 1);
            const float number = digit * static_cast<float>(1 << random_() % 24);
            std::memcpy(bytes.data() + i, &number, 4);
        }
    }

    void sync() {
        seen_.push_back(windows_);
        for (auto& [place, bytes] : windows_) scramble(bytes);
    }

    template <class Number>
    static Number combined(ReduceOp op, Number a, Number b) {
        switch (op) {
            case ReduceOp::sum: return a + b;
            case ReduceOp::prod: return a * b;
            case ReduceOp::max: return a < b ? b : a;
            case ReduceOp::min: return b < a ? b : a;
        }
        return a;
    }

    template <class Number>
    void reduce(const Reduce& work) {
        for (std::size_t i = 0; i < work.dst.length; i += sizeof(Number)) {
            Number total{};
            for (std::size_t s = 0; s < work.src.size(); ++s) {
                Number number;
                std::memcpy(&number, at(work.src[s]) + i, sizeof(Number));
                total = s == 0 ? number : combined(work.op, total, number);
            }
            std::memcpy(at(work.dst) + i, &total, sizeof(Number));
        }
    }

    template <class Number>
    void map(const Map& work) {
        const auto scalar = static_cast<Number>(work.scalar);
        for (std::size_t i = 0; i < work.dst.length; i += sizeof(Number)) {
            Number number{};
            if (plan::has_source(work.op)) std::memcpy(&number, at(work.src) + i, sizeof(Number));
            if (work.op == MapOp::fill) number = scalar;
            if (work.op == MapOp::add_scalar) number = number + scalar;
            if (work.op == MapOp::mul_scalar) number = number * scalar;
            std::memcpy(at(work.dst) + i, &number, sizeof(Number));
        }
    }

    template <class Number>
    void sum_row(const Map& work) {
        Number total{};
        for (std::size_t i = 0; i < work.src.length; i += sizeof(Number)) {
            Number number;
            std::memcpy(&number, at(work.src) + i, sizeof(Number));
            total = total + number;
        }
        std::memcpy(at(work.dst), &total, sizeof(Number));
    }

    // Any function of the elements will do: that of an i32 is its low half, that of a u16 itself.
    void convert(const Map& work) {
        const std::size_t from = bytes_of(work.from), to = bytes_of(work.element);
        for (std::size_t i = 0; i < work.dst.length / to; ++i) {
            std::uint64_t number = 0;
            std::memcpy(&number, at(work.src) + i * from, from);
            std::memcpy(at(work.dst) + i * to, &number, to);
        }
    }

    void step(const Copy& copy) { std::memcpy(at(copy.dst), at(copy.src), copy.dst.length); }
    void step(const Reduce& work) {
        work.element == Element::f32 ? reduce<float>(work) : reduce<std::uint32_t>(work);
    }
    void step(const Accumulate& work) {
        step(Reduce{ReduceOp::sum, work.element, work.dst, {work.dst, work.src}});
    }
    void step(const Map& work) {
        if (work.op == MapOp::clobber) {
            std::memset(at(work.dst), 0x5a, work.dst.length);
            return;
        }
        if (work.op == MapOp::convert) return convert(work);
        if (work.op == MapOp::row_sum) {
            return work.element == Element::f32 ? sum_row<float>(work)
                                                : sum_row<std::uint32_t>(work);
        }
        work.element == Element::f32 ? map<float>(work) : map<std::uint32_t>(work);
    }
    void step(const Notify&) { sync(); }
    void step(const Wait&) { sync(); }
    void step(const SetFlag&) {}
    void step(const WaitFlag&) {}
    void step(const PipeBarrier&) {}
    void step(const Fence&) {}
    void step(const Evict&) {}

    const Plan& plan_;
    std::mt19937_64 random_;
    Bytes tiles_;
    Memory windows_, arguments_;
    std::vector<Memory> seen_;
};

// Two plans do the same as far as peers and the caller can tell.
inline void expect_same_effect(const Plan& plan, const Plan& fused, std::uint64_t seed) {
    Reference before(plan, seed), after(fused, seed);
    before.run();
    after.run();
    const auto plans = [&] { return to_text(plan) + to_text(fused); };
    ASSERT_EQ(before.seen().size(), after.seen().size()) << "seed " << seed << '\n' << plans();
    for (std::size_t sync = 0; sync < before.seen().size(); ++sync) {
        ASSERT_TRUE(before.seen()[sync] == after.seen()[sync])
            << "seed " << seed << ", windows at sync " << sync << '\n'
            << plans();
    }
    ASSERT_TRUE(before.arguments() == after.arguments()) << "seed " << seed << '\n' << plans();
}

}  // namespace peal::testing
