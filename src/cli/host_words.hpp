// SPDX-License-Identifier: Apache-2.0
// What a launcher and its people on the hosts say to each other, over the input and output of the
// agent that started them there.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/host_list.hpp"
#include "hosts/link.hpp"

namespace peal::cli {

struct HostWord {
    enum class Kind {
        job,        // launcher: everything about the job, as below
        listening,  // host: where the rendezvous is
        cannot,     // host: the program does not start; why
        out,
        err,       // host: what ranks said
        input,     // launcher: for rank 0, "" at its end; host: it is taken
        signal,    // launcher: the number, for the ranks
        standing,  // launcher: who waits for whom? host: this
        late,      // host: ranks that have not connected
        failed,    // host: a rank, and its story; launcher: a rank elsewhere
        end,       // host: the worst status; perhaps a story: by whom, and the error
        ping,
        pong,
    };
    Kind kind = Kind::ping;
    int number = -1;
    std::vector<std::string> texts = {};
};

inline constexpr std::size_t kLongestWord = std::size_t{64} << 20;
// Both ends say something every second; who says nothing for this long is gone. It is long, since a
// process on a busy machine may be silent for seconds; ranks that have met hear of a lost host
// sooner, from each other.
inline constexpr std::chrono::seconds kBetweenPings{1};
inline constexpr std::chrono::seconds kLongestSilence{20};
// That, or so many seconds as $PEAL_LONGEST_SILENCE says: for tests, which need not wait so long.
std::chrono::seconds longest_silence();

void say(hosts::Link& link, const HostWord& word);
// Nothing: no word is whole yet. What cannot be a word ends the link.
std::optional<HostWord> next_word(hosts::Link& link);

struct HostJob {
    HostShare share;
    int nranks = 0;
    std::string secret;
    // Where ranks meet. The host that is to listen there says which port it got.
    std::string rendezvous;
    bool listens = false;
    std::vector<std::string> hosts;  // of each rank, for the one that listens
    bool is_prefixed = false;
    std::string directory;
    std::vector<std::string> environment;  // "NAME=value"
    std::vector<std::string> program;
};

HostWord word_of(const HostJob& job);
// Throws Error(usage): a launcher of another release.
HostJob job_from(const HostWord& word);

}  // namespace peal::cli
