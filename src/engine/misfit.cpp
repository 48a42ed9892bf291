// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <fmt/format.h>

#include "engine/binding.hpp"

namespace peal::engine {
namespace {

std::string data_text(std::optional<Element> element, std::uint64_t bytes) {
    if (!element) return fmt::format("{} bytes", bytes);
    return fmt::format("{}[{}]", name(*element), bytes / bytes_of(*element));
}

std::string signals_text(std::uint64_t cells, std::optional<Element> element,
                         std::uint64_t stride) {
    return fmt::format("{} signals{}, {} bytes apart", cells,
                       element ? fmt::format(" of {}", name(*element)) : "", stride);
}

std::string text_of(const Offer& offer) {
    if (!offer.shown.empty()) return offer.shown;
    switch (offer.kind) {
        case Offer::Kind::nothing: break;
        case Offer::Kind::argument: return data_text(offer.element, offer.bytes);
        case Offer::Kind::window:
        case Offer::Kind::symmetric: return "a window of " + data_text(offer.element, offer.bytes);
        case Offer::Kind::signals:
            return signals_text(offer.cells, offer.element, offer.cell_stride);
    }
    return "nothing";
}

// Where symmetric memory is expected.
std::string symmetric_text(const Offer& offer) {
    return offer.kind == Offer::Kind::argument ? "private memory" : text_of(offer);
}

std::optional<Misfit> argument_misfit(const Buffer& buffer, const Offer& offer, bool is_written) {
    const bool is_typed = offer.element.has_value();
    const auto instead_of_data = [&](std::string found) {
        const auto element = is_typed ? std::optional(buffer.element) : std::nullopt;
        return Misfit{data_text(element, buffer.bytes), std::move(found)};
    };
    if (offer.kind == Offer::Kind::nothing) return instead_of_data("nothing");
    if (offer.kind != Offer::Kind::argument) return Misfit{"private memory", text_of(offer)};
    const bool fits = is_typed ? *offer.element == buffer.element && offer.bytes == buffer.bytes
                               : offer.bytes >= buffer.bytes;
    if (!fits) return instead_of_data(text_of(offer));
    if (buffer.bytes > 0 && offer.data == nullptr) return instead_of_data("a null pointer");
    const std::uint64_t alignment = is_typed && buffer.bytes > 0 ? bytes_of(buffer.element) : 1;
    if (reinterpret_cast<std::uintptr_t>(offer.data) % alignment != 0) {
        return Misfit{fmt::format("memory that is aligned to {} bytes, the size of {}", alignment,
                                  name(buffer.element)),
                      "memory that is not"};
    }
    if (is_written && !offer.is_writable) {
        return Misfit{"memory that can be written", "const memory"};
    }
    return std::nullopt;
}

std::optional<Misfit> window_misfit(const Buffer& buffer, const Offer& offer) {
    const bool is_window =
        offer.kind == Offer::Kind::window || offer.kind == Offer::Kind::symmetric;
    const bool is_typed = offer.element.has_value();
    if (is_window && offer.bytes >= buffer.bytes &&
        (!is_typed || *offer.element == buffer.element)) {
        return std::nullopt;
    }
    const auto element = is_typed ? std::optional(buffer.element) : std::nullopt;
    return Misfit{"a window of at least " + data_text(element, buffer.bytes),
                  symmetric_text(offer)};
}

std::optional<Misfit> signal_misfit(const Buffer& buffer, const Offer& offer) {
    const bool is_typed = offer.element.has_value();
    const auto element = is_typed ? std::optional(buffer.element) : std::nullopt;
    const bool fits = offer.kind == Offer::Kind::signals
                          ? offer.cells >= buffer.cells &&
                                offer.cell_stride == buffer.cell_stride &&
                                (!is_typed || *offer.element == buffer.element)
                          : offer.kind == Offer::Kind::symmetric &&
                                offer.bytes >= buffer.cells * buffer.cell_stride;
    if (fits) return std::nullopt;
    return Misfit{"a window of at least " + signals_text(buffer.cells, element, buffer.cell_stride),
                  symmetric_text(offer)};
}

}  // namespace

std::optional<Misfit> misfit(const Buffer& buffer, const Offer& offer, bool is_written) {
    switch (buffer.kind) {
        case BufferKind::argument: return argument_misfit(buffer, offer, is_written);
        case BufferKind::window: return window_misfit(buffer, offer);
        case BufferKind::signal: return signal_misfit(buffer, offer);
    }
    return std::nullopt;
}

}  // namespace peal::engine
