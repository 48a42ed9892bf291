// SPDX-License-Identifier: Apache-2.0
#include "peal/page.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "base/cache_directory.hpp"
#include "base/digest.hpp"
#include "base/file.hpp"
#include "draw/diagram.hpp"
#include "draw/pictures.hpp"
#include "draw/svg_text.hpp"

namespace peal {

std::string write_page(const std::string& title, const Violation& violation,
                       const std::vector<CheckStage>& stages, const std::string& directory) {
    const std::string svg = draw::to_svg(draw::diagram_of(violation, stages));
    const std::filesystem::path place =
        directory.empty() ? base::cache_or_temporary_directory() / "counterexamples"
                          : std::filesystem::path(directory);
    base::make_private_directories(place);
    const std::filesystem::path page = place / (base::Digest().add(svg).text() + ".html");
    base::write_text(page,
                     fmt::format("<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>{0}</title>\n"
                                 "<h1>{0}</h1>\n<p>{1}: {2}</p>\n{3}\n",
                                 draw::escape_xml(title), name(violation.kind),
                                 draw::escape_xml(violation.message), svg),
                     "page");
    return page.string();
}

}  // namespace peal
