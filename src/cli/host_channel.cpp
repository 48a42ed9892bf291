// SPDX-License-Identifier: Apache-2.0
#include "cli/host_channel.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/thread.hpp"
#include "cli/start_program.hpp"
#include "hosts/waiting.hpp"
#include "peal/error.hpp"

namespace peal::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostUnsent = std::size_t{1} << 20;

[[noreturn]] void refuse_channel() {
    throw Error(Fault::resource,
                fmt::format("launch: no way to the launcher: {}", std::strerror(errno)));
}

base::Descriptor moved_away(int stream) {
    constexpr int kFirst = 3;
    base::Descriptor moved(fcntl(stream, F_DUPFD_CLOEXEC, kFirst));
    if (!moved) refuse_channel();
    return moved;
}

hosts::Link link_over_streams() {
    base::Descriptor in = moved_away(STDIN_FILENO), out = moved_away(STDOUT_FILENO);
    close_input();
    dup2(STDERR_FILENO, STDOUT_FILENO);
    return {std::move(in), std::move(out), kLongestWord};
}

}  // namespace

HostChannel::HostChannel()
    : wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      gone_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      link_(link_over_streams()) {
    int ends[2] = {-1, -1};
    if (!wake_ || !gone_ || pipe2(ends, O_CLOEXEC) != 0) refuse_channel();
    input_out_ = base::Descriptor(ends[0]);
    input_in_ = base::Descriptor(ends[1]);
    fcntl(input_in_.get(), F_SETFL, O_NONBLOCK);
}

HostChannel::~HostChannel() { stop(); }

void HostChannel::stop() {
    if (!thread_.joinable()) return;
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    eventfd_write(wake_.get(), 1);
    thread_.join();
}

std::optional<HostWord> HostChannel::await_job() {
    for (;;) {
        while (auto word = next_word(link_)) {
            if (word->kind != HostWord::Kind::ping) return word;
            say({HostWord::Kind::pong});
        }
        if (link_.is_over()) return std::nullopt;
        hosts::wait_for(link_.descriptor(), POLLIN, Clock::now() + kBetweenPings);
        link_.flush();
        link_.receive();
    }
}

void HostChannel::start(int front, Handlers handlers) {
    front_ = front;
    handlers_ = std::move(handlers);
    input_out_.reset();  // the first rank has it, or nobody
    heard_ = Clock::now();
    thread_ = base::start_thread("the thread that hears the launcher", [this] { hear(); });
}

void HostChannel::say(const HostWord& word) {
    const std::lock_guard lock(mutex_);
    cli::say(link_, word);
    eventfd_write(wake_.get(), 1);
}

int HostChannel::say_output(int to, std::string_view text) {
    const auto kind = to == STDOUT_FILENO ? HostWord::Kind::out : HostWord::Kind::err;
    std::unique_lock lock(mutex_);
    drained_.wait(lock, [this] { return link_.unsent() < kMostUnsent || link_.is_over(); });
    cli::say(link_, {kind, -1, {std::string(text)}});
    eventfd_write(wake_.get(), 1);
    return 0;  // a launcher that is gone ends everything by itself
}

void HostChannel::await_end() {
    hosts::wait_for(gone_.get(), POLLIN, Clock::time_point::max());
    stop();
}

void HostChannel::hear() {
    for (;;) {
        {
            const std::lock_guard lock(mutex_);
            if (stop_) return;
        }
        look_once();
    }
}

bool HostChannel::is_gone() const {
    pollfd gone = {gone_.get(), POLLIN, 0};
    return poll(&gone, 1, 0) > 0;
}

void HostChannel::look_once() {
    pollfd watched[] = {{wake_.get(), POLLIN, 0},
                        {front_, POLLIN, 0},
                        {-1, POLLIN, 0},
                        {-1, POLLOUT, 0},
                        {-1, POLLOUT, 0}};
    {
        const std::lock_guard lock(mutex_);
        if (!link_.is_over()) watched[2].fd = link_.descriptor();
        if (link_.has_unsent()) watched[3].fd = link_.out_descriptor();
        if (!input_.empty()) watched[4].fd = input_in_.get();
    }
    if (is_gone()) watched[1].fd = -1;
    constexpr std::chrono::milliseconds kNext = kBetweenPings;
    poll(watched, 5, static_cast<int>(kNext.count()));
    eventfd_t ignored = 0;
    eventfd_read(wake_.get(), &ignored);
    std::vector<HostWord> words;
    {
        const std::lock_guard lock(mutex_);
        link_.flush();
        link_.receive();
        while (auto word = next_word(link_)) words.push_back(std::move(*word));
        if (!words.empty()) heard_ = Clock::now();
        const bool is_silent = watched[2].revents == 0 && Clock::now() - heard_ > longest_silence();
        if (is_silent) link_.end("it has said nothing for long");
        if (link_.is_over() || (watched[1].fd >= 0 && watched[1].revents != 0)) {
            eventfd_write(gone_.get(), 1);
        }
        drained_.notify_all();
    }
    for (const HostWord& word : words) take(word);
    feed();
}

void HostChannel::take(const HostWord& word) {
    switch (word.kind) {
        case HostWord::Kind::ping: return say({HostWord::Kind::pong});
        case HostWord::Kind::signal: return handlers_.on_signal(word.number);
        case HostWord::Kind::standing: return handlers_.on_question();
        case HostWord::Kind::failed: return handlers_.on_failure_elsewhere(word.number);
        case HostWord::Kind::input:
            if (word.texts.size() != 1) return;
            input_ = word.texts[0];
            input_is_owed_ = true;
            input_is_over_ = input_.empty();
            return;
        default: return;
    }
}

// The launcher sends no more before this is taken, so it is never much.
void HostChannel::feed() {
    if (!input_is_owed_) return;
    while (!input_.empty() && input_in_) {
        const ssize_t written = write(input_in_.get(), input_.data(), input_.size());
        if (written > 0) {
            input_.erase(0, static_cast<std::size_t>(written));
        } else if (errno == EAGAIN) {
            return;
        } else if (errno != EINTR) {
            input_in_.reset();  // nobody reads it
        }
    }
    input_.clear();
    input_is_owed_ = false;
    if (input_is_over_) input_in_.reset();
    say({HostWord::Kind::input});
}

}  // namespace peal::cli
