// SPDX-License-Identifier: Apache-2.0
// The output of ranks through pipes, so that each line can say which rank it comes from.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace peal::cli {

// Text that comes in pieces, given out as whole lines with a prefix before each.
class LinePrefixer {
public:
    explicit LinePrefixer(std::string prefix) : prefix_(std::move(prefix)) {}

    // The lines that are whole now. A line that has no end for very long is cut.
    std::string add(std::string_view piece);
    // The last line, which had no end and gets one.
    std::string finish();

private:
    std::string prefix_;
    std::string line_;  // as far as it is known
};

// Returns 0 or an error number. Waits where the descriptor does not.
int write_all(int descriptor, std::string_view text);

class RankOutput {
public:
    // Which ranks, and whether each line of theirs says which it is from.
    struct Ranks {
        int first = 0, count = 0;
        bool are_named = true;
    };
    // Takes what ranks said, for STDOUT_FILENO or STDERR_FILENO; returns 0 or an error number.
    using Sink = std::function<int(int to, std::string_view text)>;

    // Throws Error(resource).
    explicit RankOutput(Ranks ranks, Sink sink = write_all);
    ~RankOutput();
    RankOutput(const RankOutput&) = delete;
    RankOutput& operator=(const RankOutput&) = delete;

    // In a child: its standard output and error go into the pipes.
    void redirect(int rank) const;
    // When all children are there: passes their lines on, from a thread of its own, so that a
    // reader who is slow holds up nothing else.
    void start();
    // When all children have ended: returns when all that they wrote is passed on, with 0 or the
    // number of the first error that kept some of it from its reader.
    int finish();

private:
    struct Stream {
        int from = -1;                      // our end of the pipe
        int into = -1;                      // the child's end
        int to = -1;                        // STDOUT_FILENO or STDERR_FILENO
        std::optional<LinePrefixer> lines;  // nothing: as it comes
    };

    void pass_on();
    void drain(Stream& stream);
    void end(Stream& stream);
    void pass_on(const Stream& stream, std::string_view text);

    int first_;
    Sink sink_;
    std::vector<Stream> streams_;  // two for each rank
    int stop_ = -1;                // readable when all children have ended
    int lost_ = 0;                 // the first error of passing on
    std::thread thread_;
};

}  // namespace peal::cli
