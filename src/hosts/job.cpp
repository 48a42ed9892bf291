// SPDX-License-Identifier: Apache-2.0
#include "hosts/job.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "hosts/guest.hpp"
#include "hosts/link.hpp"
#include "peal/error.hpp"
#include "shm/timeout.hpp"

namespace peal::hosts {
namespace {

using shm::Clock;
using std::chrono::microseconds;

// Letters about nothing else: where extents are, there is no such offset.
constexpr std::uint64_t kParting = 0;
constexpr std::chrono::seconds kToSendTheLast{1};

// What ranks on different hosts must have in common: how memory is laid out, and the letters.
constexpr std::string_view kVersion = "peal hosts 1\n";

std::string_view address_in(std::string_view text, const Job& job, int rank) {
    if (text.starts_with(kVersion)) return text.substr(kVersion.size());
    const std::string_view found = text.substr(0, std::min<std::size_t>(text.find('\n'), 40));
    throw Error(Fault::usage,
                fmt::format("cannot connect: {} runs another version of Peal ('{}', this is '{}'); "
                            "use one release on all hosts",
                            job.name_of(rank), found, kVersion.substr(0, kVersion.size() - 1)));
}

}  // namespace

Job::Job(std::unique_ptr<Meeting> meeting, LocalWorld world, const OpenNet& open)
    : meeting_(std::move(meeting)),
      world_(std::move(world)),
      parts_(static_cast<std::size_t>(meeting_->nranks())) {
    or_fail(*meeting_, [&] { find_way(open); });
}

void Job::find_way(const OpenNet& open) {
    const int here = ranks_here();
    this->world()->header().ranks_here.store(here, std::memory_order_relaxed);
    if (here < meeting_->nranks()) net_ = open(rank());
    const std::vector<std::string> texts =
        meeting_->exchange(std::string(kVersion) + (net_ ? net_->address() : ""));
    for (int other = 0; other < meeting_->nranks(); ++other) {
        const std::string_view address =
            address_in(texts[static_cast<std::size_t>(other)], *this, other);
        if (is_far(other)) net_->know(other, std::string(address));
    }
    if (net_) connect();
}

// Nobody goes on before all are connected: UCX 1.13 aborts a process whose peer dies while the two
// are being connected.
void Job::connect() {
    const auto begin = Clock::now();
    const auto end = shm::deadline_after(begin, shm::timeout_or(kToMeet));
    for (int other = 0; other < meeting_->nranks(); ++other) {
        if (!is_far(other)) continue;
        const auto is_known = [&] {
            look();
            return net_->is_connected(other) || net_->trouble(other).has_value();
        };
        const shm::Waited how = wait_until(is_known, end);
        if (how == shm::Waited::alarm) break;  // the exchange says who
        const std::optional<std::string> why = net_->trouble(other);
        if (how == shm::Waited::ready && !why) continue;
        // Whoever brings the ranks together knows more of it a moment later.
        if (why && loss_heard_of_until(Clock::now() + kLossIsTold)) break;
        const std::string what =
            why ? *why
                : fmt::format("no answer for {:.1f} s",
                              std::chrono::duration<double>(Clock::now() - begin).count());
        throw Error(why ? Fault::resource : Fault::bound,
                    fmt::format("cannot connect: {} cannot reach {}: {}", name_of(rank()),
                                name_of(other), what));
    }
    meeting_->exchange("");
}

int Job::ranks_here() const {
    return static_cast<int>(
        std::count(world_.host_ids.begin(), world_.host_ids.end(), host_of(rank())));
}

void Job::fail(std::string_view story) {
    has_failed_ = true;
    meeting_->fail(story);
}

std::string Job::name_of(int rank) const {
    return fmt::format("rank {} on host {}", rank, meeting_->host_of(rank));
}

// ---------------------------------------------------------------------------- letters

void Job::read_letters_about(std::uint64_t subject, Reader reader) {
    const std::lock_guard lock(mail_);
    readers_[subject] = std::move(reader);
    std::vector<Net::Letter> waiting;
    waiting.swap(unread_);
    for (const Net::Letter& letter : waiting) hand_over(letter);
}

void Job::stop_reading_about(std::uint64_t subject) {
    const std::lock_guard lock(mail_);
    readers_.erase(subject);
}

void Job::keep(std::uint64_t subject, std::shared_ptr<void> what) {
    const std::lock_guard lock(mail_);
    kept_[subject] = std::move(what);
}

void Job::keep_to_the_end(std::shared_ptr<void> what) {
    const std::lock_guard lock(mail_);
    kept_to_the_end_.push_back(std::move(what));
}

void Job::let_go(std::uint64_t subject) {
    std::shared_ptr<void> last;  // goes after the lock
    const std::lock_guard lock(mail_);
    const auto found = kept_.find(subject);
    if (found == kept_.end()) return;
    last = std::move(found->second);
    kept_.erase(found);
}

void Job::post(int rank, std::uint64_t subject, std::string_view text) {
    std::string letter(sizeof subject, '\0');
    std::memcpy(letter.data(), &subject, sizeof subject);
    net_->post(rank, letter.append(text));
}

void Job::hand_over(const Net::Letter& letter) {
    std::uint64_t subject = 0;
    const bool is_of_rank = letter.from >= 0 && letter.from < meeting_->nranks();
    if (letter.text.size() < sizeof subject || !is_of_rank) return;
    std::memcpy(&subject, letter.text.data(), sizeof subject);
    if (subject == kParting) {
        parts_[static_cast<std::size_t>(letter.from)] = true;
        return;
    }
    const auto reader = readers_.find(subject);
    if (reader == readers_.end()) {
        unread_.push_back(letter);
    } else {
        reader->second(letter.from, std::string_view(letter.text).substr(sizeof subject));
    }
}

void Job::progress() {
    constexpr microseconds kBetweenGlances{50};
    net_->progress();
    next_glance_.store(Clock::now() + kBetweenGlances, std::memory_order_relaxed);
    while (const auto letter = net_->letter()) {
        const std::lock_guard lock(mail_);
        hand_over(*letter);
    }
}

// ---------------------------------------------------------------------------- waiting

Job::FarBackoff::FarBackoff(Job& job)
    : job_(job),
      has_core_(shm::spinning_pays(*job.world()) &&
                job.world_.ranks_on_machine <= static_cast<int>(job.world()->header().cores)) {}

// A ring of a rank on this host is seen after a nap: the longer it has been waited for, the longer
// one may be. Where ranks outnumber cores nobody yields: ranks of another host, in another group of
// processes, would not get what is yielded.
bool Job::FarBackoff::pause(Clock::time_point deadline) {
    // Several times what a message takes: who sleeps is late for the next one, too.
    constexpr microseconds kSpin{300}, kShortest{10}, kLongest{1000};
    const Clock::time_point now = Clock::now();
    if (now >= deadline) return false;
    const auto waited = std::chrono::duration_cast<microseconds>(now - start_);
    if (has_core_ && waited < kSpin) return true;
    const auto left = std::chrono::duration_cast<microseconds>(deadline - now);
    job_.net_->nap(std::min({std::clamp(waited / 8, kShortest, kLongest), left}));
    return true;
}

// ---------------------------------------------------------------------------- news

void Job::hear(const Meeting::News& news) {
    shm::World& world = *world_.place.world;
    const bool is_rank = news.rank >= 0 && news.rank < world.nranks();
    if (is_rank && news.kind == Meeting::News::Kind::left) {
        if (is_far(news.rank)) world.dismiss(news.rank);
        return;
    }
    // Of a mere death whoever looks after the rank knows more.
    const bool is_death = is_rank && news.kind == Meeting::News::Kind::died;
    if (!loss_) loss_ = is_death ? "" : news.story;
    // Without whoever brings the ranks together nobody is left to say who dies. So nobody may wait
    // for anybody any more.
    world.raise_alarm(is_rank ? news.rank : somebody_else());
}

// On another host if there is one: the ranks of this one are still there.
int Job::somebody_else() const {
    for (int other = 0; other < meeting_->nranks(); ++other) {
        if (is_far(other)) return other;
    }
    return rank();
}

void Job::look() {
    const std::lock_guard lock(news_);
    while (const auto news = meeting_->news()) hear(*news);
}

std::optional<std::string> Job::loss_heard_of() {
    const std::lock_guard lock(news_);
    return loss_;
}

std::optional<std::string> Job::loss_heard_of_until(Clock::time_point end) {
    for (;;) {
        look();
        auto loss = loss_heard_of();
        if (loss || Clock::now() >= end) return loss;
        progress();
        net_->nap(microseconds(1000));
    }
}

// All ranks come here. Until then one may be wanted: to take what others put, to give what they
// fetch, and to pass on what this rank itself has issued.
void Job::part() {
    std::vector<int> far;
    for (int other = 0; other < meeting_->nranks(); ++other) {
        if (is_far(other)) far.push_back(other);
    }
    for (const int other : far) post(other, kParting, "");
    const auto parts = [this](int other) { return parts_[static_cast<std::size_t>(other)]; };
    while (world()->failed_rank() < 0 && !std::all_of(far.begin(), far.end(), parts)) {
        progress();
        look();
        net_->nap(microseconds(1000));
    }
    const Flight last;
    for (const int other : far) net_->flush(last, other);
    const Clock::time_point end = Clock::now() + kToSendTheLast;
    while (!last.is_over() && world()->failed_rank() < 0 && Clock::now() < end) {
        progress();
        look();
        net_->nap(microseconds(1000));
    }
}

Job::~Job() {
    try {
        if (net_ != nullptr && !has_failed_) part();
        meeting_->leave();
    } catch (...) {  // whoever is left over hears it by himself
    }
    readers_.clear();
    kept_.clear();
    net_.reset();  // nothing comes any more into what was kept
}

std::shared_ptr<Job> join() {
    auto meeting = meet();
    if (!meeting) return nullptr;
    LocalWorld world = find_local_world(*meeting);
    return std::make_shared<Job>(std::move(meeting), std::move(world));
}

}  // namespace peal::hosts
