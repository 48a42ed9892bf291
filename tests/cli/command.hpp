// SPDX-License-Identifier: Apache-2.0
// Runs the built `peal` as a person would.
#pragma once

#include <string>
#include <vector>

namespace peal::test {

struct Ran {
    int exit_code = -1;
    std::string out, err;
};

// In `directory`, or at the top of the source tree.
Ran peal(const std::vector<std::string>& arguments, const std::string& directory = PEAL_SOURCE_DIR);

// The same with its standard output in `out`, such as /dev/full; "" closes it.
Ran peal_into(const std::string& out, const std::vector<std::string>& arguments);

// A file in a directory of its own that goes away with the object.
class TemporaryFile {
public:
    TemporaryFile(const std::string& name, const std::string& text);
    ~TemporaryFile();
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    const std::string& path() const { return path_; }
    const std::string& directory() const { return directory_; }

private:
    std::string directory_, path_;
};

std::string read_file(const std::string& path);

}  // namespace peal::test
