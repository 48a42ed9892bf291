// SPDX-License-Identifier: Apache-2.0
#include "worker/wire.hpp"

#include <cassert>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace peal::worker {
namespace {

// Each type is described once, below; writer and reader both follow that description.
class Writer {
public:
    template <class T>
    void plain(T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        const auto* begin = reinterpret_cast<const std::byte*>(&value);
        bytes.insert(bytes.end(), begin, begin + sizeof value);
    }
    template <class Sequence>
    void size(Sequence& sequence) {
        auto count = static_cast<std::uint64_t>(sequence.size());
        plain(count);
    }
    void alternative(Action& action) {
        auto index = static_cast<std::uint8_t>(action.index());
        plain(index);
    }

    std::vector<std::byte> bytes;
};

class Reader {
public:
    explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

    template <class T>
    void plain(T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        assert(rest_.size() >= sizeof value);
        std::memcpy(&value, rest_.data(), sizeof value);
        rest_ = rest_.subspan(sizeof value);
    }
    template <class Sequence>
    void size(Sequence& sequence) {
        std::uint64_t count = 0;
        plain(count);
        sequence.resize(static_cast<std::size_t>(count));
    }
    void alternative(Action& action) {
        std::uint8_t index = 0;
        plain(index);
        emplace(action, index, std::make_index_sequence<std::variant_size_v<Action>>());
    }

private:
    template <std::size_t... I>
    static void emplace(Action& action, std::size_t index, std::index_sequence<I...> /*all*/) {
        ((I == index ? void(action.emplace<I>()) : void()), ...);
    }

    std::span<const std::byte> rest_;
};

template <class Archive, class T>
void describe(Archive& archive, T& value) {
    archive.plain(value);
}

template <class Archive, class Sequence>
void describe_sequence(Archive& archive, Sequence& sequence);
template <class Archive>
void describe(Archive& archive, std::string& text) {
    describe_sequence(archive, text);
}
template <class Archive, class T>
void describe(Archive& archive, std::vector<T>& values) {
    describe_sequence(archive, values);
}

template <class Archive>
void describe(Archive& archive, Reduce& reduce) {
    describe(archive, reduce.op);
    describe(archive, reduce.element);
    describe(archive, reduce.dst);
    describe(archive, reduce.src);
}

template <class Archive>
void describe(Archive& archive, Instruction& instruction) {
    archive.alternative(instruction.action);
    std::visit([&](auto& what) { describe(archive, what); }, instruction.action);
    describe(archive, instruction.pipe);
    describe(archive, instruction.line);
    describe(archive, instruction.joined);
    describe(archive, instruction.group);
}

template <class Archive>
void describe(Archive& archive, Buffer& buffer) {
    describe(archive, buffer.name);
    describe(archive, buffer.kind);
    describe(archive, buffer.direction);
    describe(archive, buffer.element);
    describe(archive, buffer.bytes);
    describe(archive, buffer.cells);
    describe(archive, buffer.cell_stride);
}

template <class Archive>
void describe(Archive& archive, Shift& shift) {
    describe(archive, shift.buffer);
    describe(archive, shift.by);
}

template <class Archive>
void describe(Archive& archive, Plan& plan) {
    describe(archive, plan.kernel);
    describe(archive, plan.rank);
    describe(archive, plan.nranks);
    describe(archive, plan.buffers);
    describe(archive, plan.tile_bytes);
    describe(archive, plan.instructions);
    describe(archive, plan.lanes);
    describe(archive, plan.advance);
    describe(archive, plan.turns.signal);
    describe(archive, plan.turns.every);
    describe(archive, plan.turns.count);
    describe(archive, plan.turns.shifts);
}

template <class Archive, class Sequence>
void describe_sequence(Archive& archive, Sequence& sequence) {
    archive.size(sequence);
    for (auto& value : sequence) describe(archive, value);
}

}  // namespace

std::vector<std::byte> to_bytes(Plan plan) {
    Writer writer;
    describe(writer, plan);
    return std::move(writer.bytes);
}

Plan plan_from_bytes(std::span<const std::byte> bytes) {
    Reader reader(bytes);
    Plan plan;
    describe(reader, plan);
    return plan;
}

}  // namespace peal::worker
