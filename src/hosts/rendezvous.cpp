// SPDX-License-Identifier: Apache-2.0
#include "hosts/rendezvous.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/thread.hpp"
#include "hosts/waiting.hpp"
#include "peal/error.hpp"

namespace peal::hosts {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kForStrangers{5000};
constexpr std::size_t kMostStrangers = 64;
constexpr milliseconds kToFlush{1000};

std::string with_host(int rank, const std::string& host) {
    return host.empty() ? fmt::format("rank {}", rank) : fmt::format("rank {} on {}", rank, host);
}

std::string other_release(const Claim& claim) {
    if (claim.version == kWireVersion && claim.release == release()) return "";
    return fmt::format(
        "{} is Peal {} (rendezvous {}), and the others Peal {} (rendezvous {}); build Peal from "
        "the same sources for all ranks",
        with_host(claim.rank, claim.host), claim.release, claim.version, release(), kWireVersion);
}

}  // namespace

Rendezvous::Rendezvous(base::Descriptor listener, Secret secret, Party party)
    : listener_(std::move(listener)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      secret_(secret),
      party_(std::move(party)),
      entries_(static_cast<std::size_t>(party_.nranks)),
      absent_(party_.nranks) {
    if (!wake_) throw Error(Fault::resource, "cannot make an eventfd for the rendezvous");
    thread_ = base::start_thread("the thread of the rendezvous", [this] { run(); });
}

Rendezvous::~Rendezvous() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    eventfd_write(wake_.get(), 1);
    thread_.join();
}

void Rendezvous::see_off(Clock::time_point late) {
    std::unique_lock lock(mutex_);
    const auto are_gone = [this] { return here_ == 0; };
    const auto came_and_went = [this] { return absent_ == 0 && here_ == 0; };
    if (late == Clock::time_point::max()) {
        changed_.wait(lock, came_and_went);
    } else if (!changed_.wait_until(lock, late, came_and_went)) {
        changed_.wait(lock, are_gone);
    }
}

void Rendezvous::run() {
    next_heartbeat_ = Clock::now() + kHeartbeat;
    while (!is_stopped()) look_once();
    // What has been said is said: the others may need it to know why.
    const Clock::time_point deadline = Clock::now() + kToFlush;
    for (Visitor& visitor : visitors_) {
        while (visitor.link.has_unsent() &&
               wait_for(visitor.link.descriptor(), POLLOUT, deadline)) {
            visitor.link.flush();
        }
    }
}

bool Rendezvous::is_stopped() {
    const std::lock_guard lock(mutex_);
    return stop_;
}

Rendezvous::Clock::time_point Rendezvous::next_event() const {
    Clock::time_point next = next_heartbeat_;
    for (const Visitor& visitor : visitors_) {
        if (visitor.rank < 0) next = std::min(next, visitor.deadline);
    }
    return next;
}

void Rendezvous::look_once() {
    std::vector<pollfd> watched = {{wake_.get(), POLLIN, 0},
                                   {is_full_ ? -1 : listener_.get(), POLLIN, 0}};
    for (const Visitor& visitor : visitors_) {
        const int events = visitor.link.has_unsent() ? POLLIN | POLLOUT : POLLIN;
        watched.push_back({visitor.link.descriptor(), static_cast<short>(events), 0});
    }
    if (poll(watched.data(), watched.size(), milliseconds_until(next_event())) < 0) return;
    std::size_t i = 2;
    for (Visitor& visitor : visitors_) {
        if (watched[i++].revents == 0) continue;
        visitor.link.flush();
        visitor.link.receive();
        hear(visitor);
    }
    if (watched[1].revents != 0) welcome_strangers();
    send_heartbeats();
    const Clock::time_point now = Clock::now();
    for (Visitor& visitor : visitors_) {
        if (visitor.rank < 0 && now >= visitor.deadline) visitor.link.end("it was slow");
    }
    // To tell others of one that is lost may lose another.
    for (bool is_quiet = false; !is_quiet;) {
        is_quiet = true;
        for (Visitor& visitor : visitors_) {
            if (!visitor.link.is_over() || visitor.rank < 0) continue;
            lose(visitor);
            is_quiet = false;
        }
    }
    if (std::erase_if(visitors_, [](const Visitor& v) { return v.link.is_over(); }) > 0) {
        is_full_ = false;
    }
    count_presence();
}

void Rendezvous::welcome_strangers() {
    for (;;) {
        base::Descriptor socket(
            accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (!socket) {
            // Until somebody goes, or the next heartbeat.
            is_full_ = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
            return;
        }
        drop_a_stranger();
        Greeting greeting;
        greeting.nonce = new_nonce();
        visitors_.push_back({Link(std::move(socket), kLongestFromStranger), pack(greeting),
                             Clock::now() + kForStrangers});
        visitors_.back().link.send(visitors_.back().greeting);
    }
}

// The one that has been here longest, if there are too many.
void Rendezvous::drop_a_stranger() {
    const auto is_stranger = [](const Visitor& v) { return v.rank < 0 && !v.link.is_over(); };
    const auto count = std::count_if(visitors_.begin(), visitors_.end(), is_stranger);
    if (static_cast<std::size_t>(count) < kMostStrangers) return;
    visitors_.erase(std::find_if(visitors_.begin(), visitors_.end(), is_stranger));
}

void Rendezvous::hear(Visitor& visitor) {
    while (const auto bytes = visitor.link.next()) {
        if (visitor.rank < 0) {
            hear_claim(visitor, *bytes);
        } else if (const auto message = message_from(*bytes)) {
            hear_message(visitor, *message);
        } else {
            visitor.link.end("it says what nobody understands");
        }
        if (visitor.link.is_over() && visitor.rank < 0) return;
    }
}

void Rendezvous::hear_claim(Visitor& visitor, std::string_view bytes) {
    const auto refuse = [&](std::string why) {
        visitor.link.send(pack(Answer{false, party_.owner, std::move(why)}));
        visitor.link.end("it was refused");
    };
    const auto parts = signed_claim_from(bytes);
    const auto claim = parts ? claim_from(parts->claim) : std::nullopt;
    if (!claim) return visitor.link.end("it says what nobody understands");
    const std::string said = visitor.greeting + std::string(parts->claim);
    const bool is_known = is_proof(parts->proof, secret_, Role::guest, said);
    const auto refuse_for_all = [&](std::string why) {
        // The others would wait for it in vain. Its number may be that of one who is there.
        announce_to_others({Meeting::News::Kind::failed, -1, why});
        refuse(std::move(why));
    };
    // Another release may have another proof.
    if (std::string why = other_release(*claim); !why.empty()) {
        return is_known ? refuse_for_all(std::move(why)) : refuse(std::move(why));
    }
    if (!is_known) {
        return refuse(
            fmt::format("rank {} does not know the job's secret; PEAL_SECRET must be the same "
                        "for all ranks",
                        claim->rank));
    }
    if (claim->nranks != party_.nranks) {
        return refuse_for_all(
            fmt::format("{} expects {} ranks, and the others {}; PEAL_RANKS must be the same for "
                        "all",
                        with_host(claim->rank, claim->host), claim->nranks, party_.nranks));
    }
    if (std::string why = objection(*claim); !why.empty()) return refuse(std::move(why));
    admit(visitor, *claim, said);
}

// Of one who knows the secret.
std::string Rendezvous::objection(const Claim& claim) const {
    if (claim.rank < 0 || claim.rank >= party_.nranks) {
        return fmt::format("{}: expected a rank from 0 to {}", with_host(claim.rank, claim.host),
                           party_.nranks - 1);
    }
    const RankEntry& entry = entries_[static_cast<std::size_t>(claim.rank)];
    if (entry.presence != Presence::absent) {
        return fmt::format("{} is taken: a process on {} came first",
                           with_host(claim.rank, claim.host), entry.host);
    }
    return "";
}

void Rendezvous::admit(Visitor& visitor, const Claim& claim, std::string_view said) {
    visitor.link.send(pack(Answer{true, party_.owner, proof(secret_, Role::hub, said)}));
    visitor.link.begin_sealing(Sealer(secret_, Role::hub, said), Opener(secret_, Role::guest, said),
                               kLongestFromGuest);
    visitor.rank = claim.rank;
    RankEntry& entry = entries_[static_cast<std::size_t>(claim.rank)];
    entry.presence = Presence::here;
    entry.host = claim.host;
    for (const Meeting::News& news : news_) tell(visitor, message_of(news));
    const auto is_absent = [](const RankEntry& entry) {
        return entry.presence == Presence::absent;
    };
    if (std::any_of(entries_.begin(), entries_.end(), is_absent)) return;
    Message hosts{Message::Kind::hosts, -1, {}};
    for (const RankEntry& each : entries_) hosts.texts.push_back(each.host);
    tell_all(hosts);
}

void Rendezvous::hear_message(Visitor& visitor, const Message& message) {
    using Kind = Message::Kind;
    using News = Meeting::News;
    const bool is_here =
        entries_[static_cast<std::size_t>(visitor.rank)].presence == Presence::here;
    switch (message.kind) {
        case Kind::ping: return tell(visitor, {Kind::pong, -1, {}});
        case Kind::pong: visitor.owes_answer = false; return;
        case Kind::exchange: return take_text(visitor, message);
        case Kind::who: return tell(visitor, {Kind::who, -1, missing()});
        case Kind::fail:
            if (is_here && message.texts.size() == 1) {
                announce(News::Kind::failed, visitor.rank,
                         fmt::format("{} failed: {}", name_of(visitor.rank), message.texts[0]));
            }
            return tell(visitor, {Kind::fail, -1, {}});
        case Kind::leave:
            if (is_here) {
                announce(News::Kind::left, visitor.rank,
                         fmt::format("{} has left", name_of(visitor.rank)));
            }
            return tell(visitor, {Kind::leave, -1, {}});
        default: visitor.link.end("it says what only the hub may say");
    }
}

void Rendezvous::take_text(Visitor& visitor, const Message& message) {
    RankEntry& entry = entries_[static_cast<std::size_t>(visitor.rank)];
    const bool is_proper = message.texts.size() == 1 && !entry.has_given &&
                           entry.presence == Presence::here &&
                           message.texts[0].size() <= kLongestText;
    if (!is_proper) return visitor.link.end("it exchanges twice");
    entry.has_given = true;
    entry.given = message.texts[0];
    hand_around();
}

void Rendezvous::hand_around() {
    const auto has_given = [](const RankEntry& entry) { return entry.has_given; };
    if (!std::all_of(entries_.begin(), entries_.end(), has_given)) return;
    Message all{Message::Kind::exchange, -1, {}};
    for (RankEntry& entry : entries_) {
        all.texts.push_back(std::exchange(entry.given, {}));
        entry.has_given = false;
    }
    tell_all(all);
}

// A connection that ended. One that said goodbye before is nobody's loss.
void Rendezvous::lose(Visitor& visitor) {
    const int rank = std::exchange(visitor.rank, -1);
    if (entries_[static_cast<std::size_t>(rank)].presence != Presence::here) return;
    using Kind = Meeting::News::Kind;
    if (!visitor.link.is_cut()) {
        return announce(Kind::died, rank, fmt::format("{} died", name_of(rank)));
    }
    announce(Kind::cut, rank,
             fmt::format("{} cannot be reached: {}", name_of(rank), visitor.link.why()));
}

void Rendezvous::announce(Meeting::News::Kind kind, int rank, std::string story) {
    entries_[static_cast<std::size_t>(rank)].presence = Presence::gone;
    announce_to_others({kind, rank, std::move(story)});
}

void Rendezvous::announce_to_others(Meeting::News news) {
    news_.push_back(std::move(news));
    const Message message = message_of(news_.back());
    for (Visitor& visitor : visitors_) {
        if (visitor.rank >= 0 && visitor.rank != message.rank) tell(visitor, message);
    }
}

void Rendezvous::send_heartbeats() {
    const Clock::time_point now = Clock::now();
    if (now < next_heartbeat_) return;
    next_heartbeat_ = now + kHeartbeat;
    is_full_ = false;
    for (Visitor& visitor : visitors_) {
        if (visitor.rank < 0 || visitor.owes_answer) continue;
        visitor.owes_answer = true;
        tell(visitor, {Message::Kind::ping, -1, {}});
    }
}

void Rendezvous::tell(Visitor& visitor, const Message& message) {
    visitor.link.send(pack(message));
}

void Rendezvous::tell_all(const Message& message) {
    for (Visitor& visitor : visitors_) {
        if (visitor.rank >= 0) tell(visitor, message);
    }
}

std::vector<std::string> Rendezvous::missing() const {
    std::vector<std::string> names;
    for (std::size_t rank = 0; rank < entries_.size(); ++rank) {
        if (entries_[rank].has_given) continue;
        const bool is_absent = entries_[rank].presence == Presence::absent;
        names.push_back(fmt::format("{} {}", name_of(static_cast<int>(rank)),
                                    is_absent ? "has not come" : "has come and is elsewhere"));
    }
    return names;
}

std::string Rendezvous::name_of(int rank) const {
    const auto i = static_cast<std::size_t>(rank);
    const bool is_expected = entries_[i].presence == Presence::absent && i < party_.hosts.size();
    return with_host(rank, is_expected ? party_.hosts[i] : entries_[i].host);
}

void Rendezvous::count_presence() {
    const auto count = [this](Presence presence) {
        return static_cast<int>(
            std::count_if(entries_.begin(), entries_.end(),
                          [&](const RankEntry& entry) { return entry.presence == presence; }));
    };
    const std::lock_guard lock(mutex_);
    absent_ = count(Presence::absent);
    here_ = count(Presence::here);
    changed_.notify_all();
}

}  // namespace peal::hosts
