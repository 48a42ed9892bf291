// SPDX-License-Identifier: Apache-2.0
// A counterexample for people: a page with its picture, for a browser.
#pragma once

#include <string>
#include <vector>

#include "peal/check.hpp"

namespace peal {

// Writes the page and returns its path. Without a directory it is in counterexamples/ of the cache
// directory. What is drawn alike, of the same sources and under the same title, has one page.
// Throws Error(resource) when it cannot be written.
std::string write_page(const std::string& title, const Violation& violation,
                       const std::vector<CheckStage>& stages, const std::string& directory = {});

}  // namespace peal
