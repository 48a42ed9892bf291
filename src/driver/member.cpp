// SPDX-License-Identifier: Apache-2.0
#include "driver/member.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "peal/error.hpp"
#include "worker/inside.hpp"

namespace peal::driver {
namespace {

Direction joined(Direction a, Direction b) { return a == b ? a : Direction::inout; }

class Binder {
public:
    Binder(const AddressBook& book, const DriverTask& task, std::size_t member)
        : book_(book), task_(task), chip_(task.chips[member]), arguments_(task.arguments[member]) {}

    Member bind(std::size_t node) && {
        member_.program = task_.callable.program;
        member_.chip = chip_;
        member_.node = node;
        for (std::size_t i = 0; i < arguments_.tensors.size(); ++i) add_tensor(i);
        expect_apart();
        for (std::size_t i = 0; i < arguments_.scalars.size(); ++i) add_scalar(i);
        return std::move(member_);
    }

private:
    template <class... Args>
    [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
        throw Error(Fault::usage,
                    fmt::format("{} on chip {}: {}", task_.callable.program->name, chip_,
                                fmt::format(format, std::forward<Args>(args)...)));
    }

    Direction direction_of(std::size_t i) const {
        const std::vector<Direction>& signature = task_.callable.signature;
        return i < signature.size() ? signature[i] : Direction::inout;
    }

    // Bytes from the first element to the last.
    std::uint64_t extent_of(const DriverTensor& tensor, std::size_t i) const {
        if (tensor.shape.empty()) fail("tensor {} has no dimensions", i);
        if (!tensor.strides.empty() && tensor.strides.size() != tensor.shape.size()) {
            fail("tensor {} has {} dimensions and {} strides", i, tensor.shape.size(),
                 tensor.strides.size());
        }
        std::uint64_t last = 0, stride = 1;
        for (std::size_t d = tensor.shape.size(); d-- > 0;) {
            if (tensor.shape[d] == 0) fail("tensor {} has no elements", i);
            last += (tensor.shape[d] - 1) * (tensor.strides.empty() ? stride : tensor.strides[d]);
            stride *= tensor.shape[d];
        }
        return (last + 1) * bytes_of(tensor.element);
    }

    void add_tensor(std::size_t i) {
        const DriverTensor& tensor = arguments_.tensors[i];
        const std::uint64_t begin = tensor.base + tensor.offset;
        const std::uint64_t bytes = extent_of(tensor, i);
        if (begin == 0) fail("tensor {} has no memory", i);
        member_.touched.push_back({begin, begin + bytes, tensor.waits, tensor.writes});
        pto::TaskTensor shown{0, 0, 0, tensor.element, tensor.shape, tensor.strides};
        if (const auto place = book_.window_at(begin)) {
            expect_own(*place, fmt::format("tensor {}", i));
            if (place->offset + bytes > place->domain->bytes) {
                fail("tensor {} ends at byte {} of a window of {}", i, place->offset + bytes,
                     place->domain->bytes);
            }
            shown.memory = window(*place->domain);
            // A buffer that begins in the window is told as such.
            const auto base = book_.window_at(tensor.base);
            const bool is_whole = base && base->domain == place->domain;
            shown.base = is_whole ? base->offset : place->offset;
            shown.offset = is_whole ? tensor.offset : 0;
        } else {
            shown.memory = memory(i, begin, bytes);
        }
        member_.task.tensors.push_back(std::move(shown));
    }

    std::size_t window(const LiveDomain& domain) {
        for (std::size_t m = 0; m < member_.memories.size(); ++m) {
            if (member_.memories[m].domain == &domain) return m;
        }
        member_.memories.push_back({{}, &domain});
        member_.task.memories.push_back(
            {Direction::inout, Element::u8, domain.bytes, domain.shown.chips});
        return member_.memories.size() - 1;
    }

    // The same bytes as two arguments are one memory.
    std::size_t memory(std::size_t i, std::uint64_t begin, std::uint64_t bytes) {
        const DriverTensor& tensor = arguments_.tensors[i];
        auto* const data = reinterpret_cast<std::byte*>(begin);
        const std::uint64_t count = bytes / bytes_of(tensor.element);
        for (std::size_t m = 0; m < member_.memories.size(); ++m) {
            const Tensor& other = member_.memories[m].tensor;
            const bool is_same = !member_.memories[m].domain && other.data() == data &&
                                 other.bytes() == bytes && other.element() == tensor.element;
            if (!is_same) continue;
            pto::TaskMemory& known = member_.task.memories[m];
            known.direction = joined(known.direction, direction_of(i));
            return m;
        }
        Tensor bound(Memory(data, count, tensor.element));
        if (const auto own = book_.device_memory(begin, bytes)) {
            bound = worker::Inside::tensor(worker::Inside::owner(*own), own->data(), own->rank(),
                                           tensor.element, {count});
            if (own->rank() != chip_) {
                fail("tensor {} is memory of chip {}; only that chip can use it", i, own->rank());
            }
        }
        member_.memories.push_back({std::move(bound), nullptr});
        member_.task.memories.push_back({direction_of(i), tensor.element, bytes, {}});
        return member_.memories.size() - 1;
    }

    // What the plan takes for different memories must be.
    void expect_apart() const {
        for (std::size_t a = 0; a < member_.memories.size(); ++a) {
            for (std::size_t b = a + 1; b < member_.memories.size(); ++b) expect_apart(a, b);
        }
    }
    void expect_apart(std::size_t a, std::size_t b) const {
        const Tensor& first = member_.memories[a].tensor;
        const Tensor& second = member_.memories[b].tensor;
        if (member_.memories[a].domain || member_.memories[b].domain) return;
        const bool overlap = first.data() < second.data() + second.bytes() &&
                             second.data() < first.data() + first.bytes();
        const bool both_read = member_.task.memories[a].direction == Direction::in &&
                               member_.task.memories[b].direction == Direction::in;
        if (!overlap || both_read) return;
        fail("two tensors overlap in memory in part, and one is written: memories {} and {}", a, b);
    }

    void add_scalar(std::size_t i) {
        const std::uint64_t value = arguments_.scalars[i];
        pto::TaskScalar scalar{pto::TaskScalar::Kind::number, value, 0};
        const auto context = book_.context_at(value);
        const auto place = context ? context : book_.window_at(value);
        if (place) {
            expect_own(*place, fmt::format("scalar {}", i));
            scalar.kind = context ? pto::TaskScalar::Kind::context : pto::TaskScalar::Kind::address;
            scalar.value = place->offset;
            scalar.memory = window(*place->domain);
        }
        member_.task.scalars.push_back(scalar);
    }

    void expect_own(const WindowPlace& place, const std::string& what) const {
        if (place.chip == chip_) return;
        fail("{} is of chip {}'s window; pass each chip its own, the context leads to the others",
             what, place.chip);
    }

    const AddressBook& book_;
    const DriverTask& task_;
    int chip_;
    const DriverArguments& arguments_;
    Member member_;
};

}  // namespace

Member bind_member(const AddressBook& book, const DriverTask& task, std::size_t member,
                   std::size_t node) {
    return Binder(book, task, member).bind(node);
}

}  // namespace peal::driver
