// SPDX-License-Identifier: Apache-2.0
#include "hosts/guest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/thread.hpp"
#include "hosts/waiting.hpp"
#include "peal/error.hpp"
#include "shm/timeout.hpp"

namespace peal::hosts {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBetweenTries{50};

// The next message, or nothing: the deadline, or the end of the link.
std::optional<std::string> await_message(Link& link,
                                         std::chrono::steady_clock::time_point deadline) {
    for (;;) {
        if (auto message = link.next()) return message;
        if (link.is_over() || !wait_for(link.descriptor(), POLLIN, deadline)) return std::nullopt;
        link.receive();
    }
}

double seconds(std::chrono::steady_clock::duration duration) {
    return std::chrono::duration<double>(duration).count();
}

}  // namespace

Guest::Guest(Invitation invitation, std::unique_ptr<Rendezvous> hub)
    : invitation_(std::move(invitation)),
      secret_(invitation_.secret),
      hub_(std::move(hub)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      link_(connected()),
      next_heartbeat_(Clock::now() + kHeartbeat),
      hosts_(static_cast<std::size_t>(invitation_.nranks)) {
    if (!wake_) throw Error(Fault::resource, "cannot make an eventfd for the rendezvous");
    thread_ = base::start_thread("the thread that hears of other hosts", [this] { listen(); });
}

Guest::~Guest() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    eventfd_write(wake_.get(), 1);
    thread_.join();
}

// ---- coming

Link Guest::connected() const {
    const Clock::time_point deadline = shm::deadline_after(begin_, invitation_.to_meet);
    do {
        if (auto link = tried(deadline)) return std::move(*link);
        const int why = errno;
        wait_for(-1, 0, std::min(deadline, Clock::now() + kBetweenTries));
        errno = why;
    } while (Clock::now() < deadline);
    throw Error(Fault::bound,
                fmt::format("timeout: rank {} of {} waited {:.1f} s for an answer from the "
                            "rendezvous at {}: {}; does rank 0 run there, and can it be reached?",
                            invitation_.rank, invitation_.nranks, seconds(Clock::now() - begin_),
                            invitation_.address.text(), std::strerror(errno)));
}

// Nothing, with errno, if it is to be tried again.
std::optional<Link> Guest::tried(Clock::time_point deadline) const {
    const std::string where = invitation_.address.text();
    base::Descriptor socket = connect_to(invitation_.address, deadline);
    if (!socket) return std::nullopt;
    Link link(std::move(socket), kLongestFromStranger);
    const auto greeting_bytes = await_message(link, deadline);
    if (!greeting_bytes) {
        errno = link.is_over() ? ECONNRESET : ETIMEDOUT;
        return std::nullopt;
    }
    const auto greeting = greeting_from(*greeting_bytes);
    if (!greeting) {
        throw Error(Fault::usage, fmt::format("cannot connect: what answers at {} is no rendezvous "
                                              "of Peal",
                                              where));
    }
    const std::string claim =
        pack(Claim{kWireVersion, std::string(release()), invitation_.rank, invitation_.nranks,
                   invitation_.host.substr(0, 255), new_nonce()});
    const std::string said = *greeting_bytes + claim;
    link.send(pack(claim, proof(secret_, Role::guest, said)));
    const auto answer_bytes = await_message(link, deadline);
    const auto answer = answer_bytes ? answer_from(*answer_bytes) : std::nullopt;
    if (!answer) {
        errno = link.is_over() ? ECONNRESET : ETIMEDOUT;
        return std::nullopt;
    }
    if (!answer->is_accepted) {
        throw Error(Fault::usage, fmt::format("cannot connect: the rendezvous at {} refused: {}",
                                              where, answer->text));
    }
    if (!is_proof(answer->text, secret_, Role::hub, said)) {
        throw Error(
            Fault::wrong,
            fmt::format("cannot connect: who answers at {} does not know the job's secret", where));
    }
    owner_ = answer->owner;
    link.begin_sealing(Sealer(secret_, Role::guest, said), Opener(secret_, Role::hub, said),
                       longest_from_hub(invitation_.nranks));
    return link;
}

// ---- the thread

void Guest::listen() {
    for (;;) {
        {
            const std::lock_guard lock(mutex_);
            if (stop_) return;
        }
        look_once();
    }
}

void Guest::look_once() {
    pollfd watched[] = {{wake_.get(), POLLIN, 0}, {-1, 0, 0}};
    Clock::time_point until = Clock::time_point::max();
    {
        const std::lock_guard lock(mutex_);
        if (!link_.is_over()) {
            const int events = link_.has_unsent() ? POLLIN | POLLOUT : POLLIN;
            watched[1] = {link_.descriptor(), static_cast<short>(events), 0};
            until = next_heartbeat_;
        }
    }
    poll(watched, 2, milliseconds_until(until));
    eventfd_t ignored = 0;
    eventfd_read(wake_.get(), &ignored);
    const std::lock_guard lock(mutex_);
    const bool was_over = link_.is_over();
    link_.flush();
    link_.receive();
    while (const auto bytes = link_.next()) {
        const auto message = message_from(*bytes);
        if (message) hear(*message);
    }
    if (Clock::now() >= next_heartbeat_) {
        next_heartbeat_ = Clock::now() + kHeartbeat;
        if (!std::exchange(owes_answer_, true)) say({Kind::ping, -1, {}});
    }
    const bool is_lost = link_.is_over() && !was_over && !has_left_;
    if (is_lost) {
        const std::string who = owner_ >= 0 ? fmt::format("rank {}", owner_) : "the launcher";
        const std::string where = owner_ >= 0 && !hosts_[static_cast<std::size_t>(owner_)].empty()
                                      ? " on " + hosts_[static_cast<std::size_t>(owner_)]
                                      : "";
        take(link_.is_cut()
                 ? News{News::Kind::cut, owner_,
                        fmt::format("{}{} cannot be reached: {}", who, where, link_.why())}
                 : News{News::Kind::died, owner_, fmt::format("{}{} died", who, where)});
    }
    changed_.notify_all();
}

void Guest::hear(const Message& message) {
    switch (message.kind) {
        case Kind::ping: return say({Kind::pong, -1, {}});
        case Kind::pong: owes_answer_ = false; return;
        case Kind::exchange: texts_ = message.texts; return;
        case Kind::hosts: hosts_ = message.texts; return;
        case Kind::who: missing_ = message.texts; return;
        case Kind::fail:
        case Kind::leave: answered_ = message.kind; return;
        default: break;
    }
    if (auto news = news_from(message)) take(std::move(*news));
}

void Guest::take(News news) {
    if (!first_loss_) first_loss_ = news;
    news_.push_back(std::move(news));
    has_news_.store(true, std::memory_order_release);
}

void Guest::say(const Message& message) { link_.send(pack(message)); }

// ---- the rank

const std::string& Guest::host_of(int rank) const {
    // Written once, before the first exchange ends.
    return hosts_.at(static_cast<std::size_t>(rank));
}

void Guest::expect_all_well(std::unique_lock<std::mutex>& /*held*/) const {
    if (!first_loss_) return;
    throw Error(Fault::wrong, fmt::format("{}; rank {} was to exchange addresses with all ranks",
                                          first_loss_->story, invitation_.rank));
}

std::vector<std::string> Guest::exchange(std::string_view own) {
    if (own.size() > kLongestText) {
        throw Error(Fault::usage, fmt::format("a text of {} bytes is too long to exchange; at most "
                                              "{} are taken",
                                              own.size(), kLongestText));
    }
    std::unique_lock lock(mutex_);
    expect_all_well(lock);
    texts_.reset();
    const Clock::time_point begin = has_exchanged_ ? Clock::now() : begin_;
    const Clock::time_point deadline =
        shm::deadline_after(begin, has_exchanged_ ? invitation_.to_go_on : invitation_.to_meet);
    say({Kind::exchange, -1, {std::string(own)}});
    eventfd_write(wake_.get(), 1);
    const auto is_settled = [this] { return texts_ || first_loss_; };
    if (deadline == Clock::time_point::max()) {
        changed_.wait(lock, is_settled);
    } else if (!changed_.wait_until(lock, deadline, is_settled)) {
        time_out(lock, Clock::now() - begin);
    }
    if (!texts_) expect_all_well(lock);
    has_exchanged_ = true;
    return *std::exchange(texts_, std::nullopt);
}

// A host's own name may mean its loop there, which nobody else would find out.
std::string Guest::where_hub_listens() const {
    const auto has_not_come = [](const std::string& who) { return who.ends_with("has not come"); };
    if (!hub_ || !std::any_of(missing_->begin(), missing_->end(), has_not_come)) return "";
    const Address address = hub_->address();
    return fmt::format("; rank {} listens at {}{}", invitation_.rank, address.text(),
                       is_own_loop(address.host) ? ", where no other host reaches it" : "");
}

void Guest::time_out(std::unique_lock<std::mutex>& lock, Clock::duration waited) {
    constexpr std::size_t kMostNamed = 8;
    missing_.reset();
    say({Kind::who, -1, {}});
    eventfd_write(wake_.get(), 1);
    changed_.wait_for(lock, kLossTimeout, [this] { return missing_ || first_loss_; });
    if (!missing_) expect_all_well(lock);  // another rank was late first
    std::string who = "the rendezvous does not answer";
    if (missing_) {
        const std::size_t named = std::min(missing_->size(), kMostNamed);
        who = fmt::format("{}",
                          fmt::join(missing_->begin(),
                                    missing_->begin() + static_cast<std::ptrdiff_t>(named), ", "));
        if (missing_->size() > named) who += fmt::format(", and {} more", missing_->size() - named);
        who += where_hub_listens();
    }
    const std::string story =
        fmt::format("timeout: rank {} waited {:.1f} s for all {} ranks: {}", invitation_.rank,
                    seconds(waited), invitation_.nranks, who);
    lock.unlock();
    fail(story);
    throw Error(Fault::bound, story);
}

std::optional<Meeting::News> Guest::news() {
    if (!has_news_.load(std::memory_order_acquire)) return std::nullopt;
    const std::lock_guard lock(mutex_);
    if (news_.empty()) return std::nullopt;
    News first = std::move(news_.front());
    news_.pop_front();
    has_news_.store(!news_.empty(), std::memory_order_release);
    return first;
}

// Whether the hub has heard it.
bool Guest::say_and_wait(Kind kind, std::vector<std::string> texts) {
    std::unique_lock lock(mutex_);
    answered_.reset();
    say({kind, -1, std::move(texts)});
    eventfd_write(wake_.get(), 1);
    return changed_.wait_for(lock, kLossTimeout,
                             [&] { return answered_ == kind || link_.is_over(); });
}

void Guest::fail(std::string_view story) {
    {
        const std::lock_guard lock(mutex_);
        if (has_left_ || std::exchange(has_failed_, true)) return;
    }
    say_and_wait(Kind::fail, {std::string(story.substr(0, kLongestText))});
}

void Guest::leave() {
    {
        const std::lock_guard lock(mutex_);
        if (has_failed_ || std::exchange(has_left_, true)) return;
    }
    say_and_wait(Kind::leave, {});
    if (hub_) hub_->see_off(shm::deadline_after(begin_, invitation_.to_meet));
}

}  // namespace peal::hosts
