// SPDX-License-Identifier: Apache-2.0
// The headers that kernels include, as part of the library: a program that uses Peal needs no
// installation to compile kernels.
#pragma once

#include <span>
#include <string_view>

namespace peal::pto {

struct EmbeddedFile {
    std::string_view path;  // below the include directory
    std::string_view text;
};
std::span<const EmbeddedFile> embedded_headers();

}  // namespace peal::pto
