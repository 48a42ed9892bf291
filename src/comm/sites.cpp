// SPDX-License-Identifier: Apache-2.0
#include "comm/sites.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace peal::comm {
namespace {

// Long names lose their beginning: the line is what matters.
std::string text_of_site(CallSite at) {
    constexpr std::size_t kMost = 40;
    const std::string_view path = at.file;
    const std::string_view name = path.substr(path.rfind('/') + 1);
    return fmt::format("{}:{}", name.substr(name.size() - std::min(name.size(), kMost)), at.line);
}

}  // namespace

std::uint32_t Sites::number_of(CallSite at) {
    if (at.file == nullptr) return 0;
    const auto file = reinterpret_cast<std::uintptr_t>(at.file);
    for (std::size_t place = file + std::size_t{7} * at.line;; ++place) {
        Known& known = known_[place % known_.size()];
        if (known.number != 0 && known.at == at) return known.number;
        if (known.number != 0) continue;
        if (count_ == Member::kSites) return 0;
        put(member_.sites[count_], text_of_site(at));
        known = {at, ++count_};
        return known.number;
    }
}

std::string site_text(const Member& member, std::uint32_t number) {
    if (number == 0 || number > Member::kSites) return "";
    return fmt::format(", at {}", text_of(member.sites[number - 1]));
}

}  // namespace peal::comm
