// SPDX-License-Identifier: Apache-2.0
// Who is declared in a header, and is it ever used?
//
// A name is used where it occurs and is neither declared nor defined. It is the name that counts:
// of two functions of one name, both are used when one is. So nothing that is used is ever named
// here, and what is named here can go.
#pragma once

#include <string>
#include <vector>

#include "house/tokens.hpp"

namespace peal::test {

// "src/plan/cache.hpp: compile", for each function, type and constant that a header of `headers`
// declares and no file of `users` uses; by path.
std::vector<std::string> unused_names(const std::vector<SourceFile>& headers,
                                      const std::vector<SourceFile>& users);

}  // namespace peal::test
