// SPDX-License-Identifier: Apache-2.0
#include "cli/rank_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/thread.hpp"
#include "peal/error.hpp"

namespace peal::cli {
namespace {

[[noreturn]] void refuse() {
    throw Error(Fault::resource,
                fmt::format("launch: cannot make pipes for the ranks' output: {}; use fewer ranks, "
                            "raise `ulimit -n` or leave out --prefix",
                            std::strerror(errno)));
}

void close_one(int& descriptor) {
    if (descriptor >= 0) close(descriptor);
    descriptor = -1;
}

}  // namespace

int write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = write(descriptor, text.data(), text.size());
        if (written >= 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno == EAGAIN) {
            pollfd ready = {descriptor, POLLOUT, 0};
            poll(&ready, 1, -1);
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

RankOutput::RankOutput(Ranks ranks, Sink sink) : first_(ranks.first), sink_(std::move(sink)) {
    stop_ = eventfd(0, EFD_CLOEXEC);
    if (stop_ < 0) refuse();
    for (int rank = ranks.first; rank < ranks.first + ranks.count; ++rank) {
        for (const int to : {STDOUT_FILENO, STDERR_FILENO}) {
            int ends[2] = {-1, -1};
            if (pipe2(ends, O_CLOEXEC) != 0) refuse();
            fcntl(ends[0], F_SETFL, O_NONBLOCK);
            streams_.push_back({ends[0], ends[1], to, std::nullopt});
            if (ranks.are_named) streams_.back().lines.emplace(fmt::format("[{}] ", rank));
        }
    }
}

RankOutput::~RankOutput() {
    finish();
    for (Stream& stream : streams_) {
        close_one(stream.from);
        close_one(stream.into);
    }
    close_one(stop_);
}

void RankOutput::redirect(int rank) const {
    for (const int which : {0, 1}) {
        const Stream& stream =
            streams_[2 * static_cast<std::size_t>(rank - first_) + static_cast<std::size_t>(which)];
        dup2(stream.into, stream.to);
    }
}

void RankOutput::start() {
    for (Stream& stream : streams_) close_one(stream.into);
    thread_ = base::start_thread("the thread for the ranks' output", [this] { pass_on(); });
}

int RankOutput::finish() {
    if (thread_.joinable()) {
        eventfd_write(stop_, 1);
        thread_.join();
    }
    return lost_;
}

void RankOutput::pass_on() {
    const auto open = [](const Stream& stream) { return stream.from >= 0; };
    bool stopped = false;
    while (!stopped && std::any_of(streams_.begin(), streams_.end(), open)) {
        std::vector<pollfd> watched = {{stop_, POLLIN, 0}};
        for (const Stream& stream : streams_) watched.push_back({stream.from, POLLIN, 0});
        if (poll(watched.data(), watched.size(), -1) < 0) continue;
        for (std::size_t i = 0; i < streams_.size(); ++i) {
            if (watched[i + 1].revents != 0) drain(streams_[i]);
        }
        stopped = watched[0].revents != 0;
    }
    // What a child left behind in the pipe, which another process may still hold open.
    for (Stream& stream : streams_) {
        drain(stream);
        end(stream);
    }
}

// All that is there now, at most a pipe's worth, so that no rank keeps the others from speaking.
void RankOutput::drain(Stream& stream) {
    char piece[65536];
    const ssize_t bytes = stream.from < 0 ? 0 : read(stream.from, piece, sizeof piece);
    if (bytes > 0) {
        const std::string_view text(piece, static_cast<std::size_t>(bytes));
        pass_on(stream, stream.lines ? stream.lines->add(text) : std::string(text));
    } else if (bytes == 0) {
        end(stream);
    }
}

void RankOutput::pass_on(const Stream& stream, std::string_view text) {
    if (text.empty()) return;
    const int error = sink_(stream.to, text);
    if (lost_ == 0) lost_ = error;
}

void RankOutput::end(Stream& stream) {
    if (stream.lines) pass_on(stream, stream.lines->finish());
    close_one(stream.from);
}

std::string LinePrefixer::add(std::string_view piece) {
    constexpr std::size_t kLongestLine = 1 << 20;
    std::string lines;
    for (std::size_t end; (end = piece.find('\n')) != std::string_view::npos;) {
        lines.append(prefix_).append(line_).append(piece.substr(0, end + 1));
        line_.clear();
        piece.remove_prefix(end + 1);
    }
    line_.append(piece);
    if (line_.size() > kLongestLine) lines += finish();
    return lines;
}

std::string LinePrefixer::finish() {
    if (line_.empty()) return "";
    std::string last = prefix_ + line_ + '\n';
    line_.clear();
    return last;
}

}  // namespace peal::cli
