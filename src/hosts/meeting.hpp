// SPDX-License-Identifier: Apache-2.0
// How the ranks of a job on several hosts find each other before there is another way between them,
// and hear of each other's end.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace peal::hosts {

class Meeting {
public:
    virtual ~Meeting() = default;

    virtual int rank() const = 0;
    virtual int nranks() const = 0;
    // A name for people; known after the ranks have come, which is after the first exchange.
    virtual const std::string& host_of(int rank) const = 0;

    // Everybody gives a text and gets everybody's, in the order of the ranks. All must call.
    // Error(bound): who has not come in time, by rank (and host if known), which is told to all;
    // Error(wrong): somebody died or failed.
    virtual std::vector<std::string> exchange(std::string_view own) = 0;

    struct News {
        // `cut`: it cannot be reached any more, which says nothing of its process.
        enum class Kind { died, failed, left, cut } kind;
        int rank;  // -1: whoever brings the ranks together
        std::string story;
    };
    // What has happened to another rank since the last question; never waits.
    virtual std::optional<News> news() = 0;

    // This rank ends by an error: all are told. Only the first counts.
    virtual void fail(std::string_view story) = 0;
    virtual void leave() = 0;
};

// What the body returns. If it throws, the others hear why this rank does not go on.
template <class Body>
auto or_fail(Meeting& meeting, Body&& body) {
    try {
        return body();
    } catch (const std::exception& error) {
        meeting.fail(error.what());
        throw;
    }
}

// By the environment: PEAL_RANK, PEAL_RANKS and PEAL_RENDEZVOUS, or PMIx. nullptr: neither is
// there.
std::unique_ptr<Meeting> meet();

}  // namespace peal::hosts
