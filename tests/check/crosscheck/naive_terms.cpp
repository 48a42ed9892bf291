// SPDX-License-Identifier: Apache-2.0
#include "check/crosscheck/naive_terms.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace peal::test {
namespace {

std::uint32_t info_of(Element element, ReduceOp op = ReduceOp::sum) {
    return static_cast<std::uint32_t>(element) << 8 | static_cast<std::uint32_t>(op);
}

double neutral_number(ReduceOp op, Element type) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (op == ReduceOp::sum) return 0;
    if (op == ReduceOp::prod) return 1;
    const bool least = op == ReduceOp::max;
    if (is_float(type)) return least ? -kInfinity : kInfinity;
    const double half = std::ldexp(1.0, static_cast<int>(8 * bytes_of(type)) - 1);
    if (is_unsigned(type)) return least ? 0 : 2 * half - 1;
    return least ? -half : half - 1;
}

ByteList part(const std::vector<std::uint32_t>& key, std::size_t number, std::size_t size) {
    const auto begin = key.begin() + static_cast<std::ptrdiff_t>(2 + number * size);
    return ByteList(begin, begin + static_cast<std::ptrdiff_t>(size));
}

}  // namespace

std::uint64_t bits_of(Element element, double number) {
    const auto as_float = std::bit_cast<std::uint32_t>(static_cast<float>(number));
    switch (element) {
        case Element::f32: return as_float;
        case Element::bf16: return as_float >> 16;
        case Element::f16: {
            const std::uint32_t sign = as_float >> 16 & 0x8000;
            if (number == 0) return sign;
            if (std::isinf(number)) return sign | 0x7c00;
            return sign | (((as_float >> 23 & 0xff) - 112) << 10) | (as_float >> 13 & 0x3ff);
        }
        case Element::f64: return std::bit_cast<std::uint64_t>(number);
        default: break;
    }
    const auto whole = static_cast<std::uint64_t>(static_cast<std::int64_t>(number));
    return whole & (~std::uint64_t{0} >> (64 - 8 * bytes_of(element)));
}

std::size_t NaiveTerms::Hash::operator()(const Key& key) const {
    std::uint64_t hash = key.size();
    for (const std::uint32_t word : key) {
        hash = (hash ^ word) * 0x9e3779b97f4a7c15;
        hash ^= hash >> 29;
    }
    return hash;
}

std::uint32_t NaiveTerms::intern(const Key& key) {
    const auto [found, is_new] =
        numbers_.try_emplace(key, static_cast<std::uint32_t>(keys_.size()));
    if (is_new) {
        bool open = !key.empty() && key[0] == kGathered;
        if (!key.empty() && key[0] >= kByte) {
            for (std::size_t i = 2; i < key.size(); ++i) open = open || open_[key[i]];
        }
        keys_.push_back(key);
        open_.push_back(open);
    }
    return found->second;
}

ByteList NaiveTerms::bytes_of_result(std::uint32_t result, Element element) {
    ByteList bytes;
    for (std::uint32_t i = 0; i < bytes_of(element); ++i) {
        bytes.push_back(intern({kByte, i, result}));
    }
    return bytes;
}

ByteList NaiveTerms::combine(ReduceOp op, Element element, const ByteList& left,
                             const ByteList& right) {
    Key key{kCombined, info_of(element, op)};
    key.insert(key.end(), left.begin(), left.end());
    key.insert(key.end(), right.begin(), right.end());
    return bytes_of_result(intern(key), element);
}

ByteList NaiveTerms::gather(Element element, const ByteList& sum, const ByteList& added) {
    const std::size_t size = bytes_of(element);
    std::vector<ByteList> bag = {added};
    const Key* result = whole(sum);
    if (result && (*result)[0] == kGathered && (*result)[1] == info_of(element)) {
        for (std::size_t i = 0; 2 + i * size < result->size(); ++i) {
            bag.push_back(part(*result, i, size));
        }
    } else if (!is_empty_sum(sum)) {
        bag.push_back(sum);
    }
    std::sort(bag.begin(), bag.end());
    Key key{kGathered, info_of(element)};
    for (const ByteList& one : bag) key.insert(key.end(), one.begin(), one.end());
    return bytes_of_result(intern(key), element);
}

ByteList NaiveTerms::round(Element element, const ByteList& inner) {
    Key key{kRounded, info_of(element)};
    key.insert(key.end(), inner.begin(), inner.end());
    return bytes_of_result(intern(key), element);
}

ByteList NaiveTerms::compute(MapOp map, Element element, Element from, double scalar,
                             std::span<const ByteTerm> bytes) {
    const auto bits = std::bit_cast<std::uint64_t>(scalar);
    const std::uint32_t number =
        intern({kNumber, static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)});
    Key key{kComputed,
            info_of(element) | static_cast<std::uint32_t>(map) << 16 |
                static_cast<std::uint32_t>(from) << 24,
            number};
    key.insert(key.end(), bytes.begin(), bytes.end());
    return bytes_of_result(intern(key), element);
}

ByteList NaiveTerms::commuted(const ByteList& element) {
    const Key* result = whole(element);
    if (!result || ((*result)[0] != kCombined && (*result)[0] != kRounded)) return element;
    const Key from = *result;  // the table grows meanwhile
    std::vector<ByteList> operands;
    for (std::size_t i = 0; 2 + i * element.size() < from.size(); ++i) {
        operands.push_back(commuted(part(from, i, element.size())));
    }
    std::sort(operands.begin(), operands.end());
    Key key{from[0], from[1]};
    for (const ByteList& each : operands) key.insert(key.end(), each.begin(), each.end());
    return bytes_of_result(intern(key), static_cast<Element>(from[1] >> 8));
}

// The result of which these are all the bytes, in their places.
const NaiveTerms::Key* NaiveTerms::whole(const ByteList& element) const {
    const Key* first = result_at(element[0], 0);
    for (std::size_t i = 1; i < element.size(); ++i) {
        if (result_at(element[i], i) != first) return nullptr;
    }
    return first;
}

const NaiveTerms::Key* NaiveTerms::result_at(ByteTerm byte, std::size_t at) const {
    const Key& key = keys_[byte];
    return !key.empty() && key[0] == kByte && key[1] == at ? &keys_[key[2]] : nullptr;
}

bool NaiveTerms::is_empty_sum(const ByteList& element) const {
    return std::all_of(element.begin(), element.end(), [&](ByteTerm byte) {
        return byte == kNothing || keys_[byte] == Key{kConstant, 0};
    });
}

bool NaiveTerms::is_neutral(const ByteList& element, ReduceOp op, Element type) const {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < element.size(); ++i) {
        const Key& key = keys_[element[i]];
        if (key.size() != 2 || key[0] != kConstant) return false;
        bits |= static_cast<std::uint64_t>(key[1]) << 8 * i;
    }
    if (bits == bits_of(type, neutral_number(op, type))) return true;
    return op == ReduceOp::sum && is_float(type) && bits == bits_of(type, -0.0);
}

// False: the result is none of this combination.
bool NaiveTerms::collect_from(const Key& result, ReduceOp op, Element type,
                              std::vector<ByteList>& list) const {
    const bool combined = result[0] == kCombined && result[1] == info_of(type, op);
    const bool gathered =
        result[0] == kGathered && result[1] == info_of(type) && op == ReduceOp::sum;
    const bool rounded = result[0] == kRounded && result[1] == info_of(type);
    if (!combined && !gathered && !rounded) return false;
    const std::size_t size = bytes_of(type);
    for (std::size_t i = 0; 2 + i * size < result.size(); ++i) {
        collect(part(result, i, size), op, type, list);
    }
    return true;
}

void NaiveTerms::collect(const ByteList& element, ReduceOp op, Element type,
                         std::vector<ByteList>& list) const {
    const Key* result = whole(element);
    if (result && collect_from(*result, op, type, list)) return;
    if (!is_neutral(element, op, type)) list.push_back(element);
}

namespace {

std::vector<ByteList> in_order(std::vector<ByteList> list, ReduceOp op) {
    std::sort(list.begin(), list.end());
    if (op == ReduceOp::max || op == ReduceOp::min) {
        list.erase(std::unique(list.begin(), list.end()), list.end());
    }
    return list;
}

}  // namespace

std::vector<ByteList> NaiveTerms::parts(const ByteList& element, ReduceOp op, Element type) const {
    std::vector<ByteList> list;
    collect(element, op, type, list);
    return in_order(std::move(list), op);
}

std::vector<ByteList> NaiveTerms::parts_of_byte(ByteTerm byte, std::size_t at, ReduceOp op,
                                                Element type) const {
    std::vector<ByteList> list;
    const Key* result = result_at(byte, at);
    if (!result || !collect_from(*result, op, type, list)) list = {{byte}};
    return in_order(std::move(list), op);
}

std::vector<ByteList> NaiveTerms::chain(ByteList element, ReduceOp op, Element type) const {
    std::vector<ByteList> list;
    const auto add = [&](const ByteList& one) {
        if (!is_neutral(one, op, type)) list.push_back(one);
    };
    const std::size_t size = bytes_of(type);
    while (const Key* result = whole(element)) {
        const bool combined = (*result)[0] == kCombined && (*result)[1] == info_of(type, op);
        const bool rounded = (*result)[0] == kRounded && (*result)[1] == info_of(type);
        if (!combined && !rounded) break;
        if (combined) add(part(*result, 1, size));
        element = part(*result, 0, size);
    }
    add(element);
    std::reverse(list.begin(), list.end());
    return list;
}

}  // namespace peal::test
