// SPDX-License-Identifier: Apache-2.0
// One end of a connection on which messages are said, with a length before each. Nothing here
// waits.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"
#include "hosts/secret.hpp"

namespace peal::hosts {

// A connection whose other end is gone is known to be so after this time: both ends say something
// every kHeartbeat, and what the other machine has not acknowledged for kLossTimeout is lost for
// good. The machines acknowledge, not the processes: one that is stopped is still there.
inline constexpr std::chrono::milliseconds kHeartbeat{400};
inline constexpr std::chrono::milliseconds kLossTimeout{1800};
// By then ranks have heard of it; who finds sooner that it cannot reach a rank waits for this news.
inline constexpr std::chrono::milliseconds kLossIsTold =
    kLossTimeout + std::chrono::milliseconds(700);

class Link {
public:
    // Takes over a connected socket that does not block. No message may be longer than `longest`.
    Link(base::Descriptor socket, std::size_t longest);
    // The same of two pipes, as an agent that starts programs elsewhere has them.
    Link(base::Descriptor in, base::Descriptor out, std::size_t longest);

    int descriptor() const { return in_end_.get(); }
    int out_descriptor() const { return out_end_ ? out_end_.get() : in_end_.get(); }

    // From here on messages are sealed, and may be longer or shorter.
    void begin_sealing(Sealer sealer, Opener opener, std::size_t longest);

    // Sends what can be sent now. The rest goes with flush().
    void send(std::string_view message);
    void flush();
    bool has_unsent() const { return !out_.empty(); }
    std::size_t unsent() const { return out_.size(); }

    // Takes in what has come.
    void receive();
    // The next message that is whole.
    std::optional<std::string> next();

    // No more comes: why, for people. Messages that came before it can still be taken.
    bool is_over() const { return over_; }
    const std::string& why() const { return why_; }
    // The other end could no longer be reached, which says nothing of its process.
    bool is_cut() const { return cut_; }
    // No more from this end either.
    void end(std::string why);

private:
    void end_by_errno();

    base::Descriptor in_end_, out_end_;  // one socket: only the first
    std::size_t longest_;
    std::string in_, out_;
    std::optional<Sealer> sealer_;
    std::optional<Opener> opener_;
    bool over_ = false;
    bool cut_ = false;
    std::string why_;
};

}  // namespace peal::hosts
