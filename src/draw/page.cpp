// SPDX-License-Identifier: Apache-2.0
#include "peal/page.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/cache_directory.hpp"
#include "base/digest.hpp"
#include "base/file.hpp"
#include "draw/diagram.hpp"
#include "draw/pictures.hpp"
#include "draw/svg_text.hpp"

namespace peal {
namespace {

// The files that the steps are of, as those who compiled them called them: a page of each.
std::string sources_of(const std::vector<CheckStage>& stages) {
    std::vector<std::string> names;
    for (const CheckStage& stage : stages) {
        const SourcePtr& source = stage.plans->front().source;
        if (!source || source->name().empty()) continue;
        if (std::find(names.begin(), names.end(), source->name()) == names.end()) {
            names.push_back(source->name());
        }
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string write_page(const std::string& title, const Violation& violation,
                       const std::vector<CheckStage>& stages, const std::string& directory) {
    const std::string svg = draw::to_svg(draw::diagram_of(violation, stages));
    const std::filesystem::path place =
        directory.empty() ? base::cache_or_temporary_directory() / "counterexamples"
                          : std::filesystem::path(directory);
    base::make_private_directories(place);
    const std::string sources = sources_of(stages);
    const std::filesystem::path page =
        place / (base::Digest().add(title).add(sources).add(svg).text() + ".html");
    base::write_text(
        page,
        fmt::format("<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>{0}</title>\n"
                    "<h1>{0}</h1>\n{4}<p>{1}: {2}</p>\n{3}\n",
                    draw::escape_xml(title), name(violation.kind),
                    draw::escape_xml(violation.message), svg,
                    sources.empty() ? "" : fmt::format("<p>{}</p>\n", draw::escape_xml(sources))),
        "page");
    return page.string();
}

}  // namespace peal
