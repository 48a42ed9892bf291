// SPDX-License-Identifier: Apache-2.0
#include "hosts/link.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "hosts/text_wire.hpp"

namespace peal::hosts {
namespace {

constexpr std::size_t kLengthBytes = 4;

void set(int socket, int level, int option, int value) {
    setsockopt(socket, level, option, &value, sizeof value);
}

// What is said is acknowledged or lost within kLossTimeout. Beside a process that is stopped, and
// so says nothing, the system asks in our place.
void set_loss_timeout(int socket) {
    set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
    set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(kLossTimeout.count()));
    set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
    set(socket, IPPROTO_TCP, TCP_KEEPIDLE, 1);
    set(socket, IPPROTO_TCP, TCP_KEEPINTVL, 1);
}

bool says_unreachable(int error) {
    return error == ETIMEDOUT || error == EHOSTUNREACH || error == ENETUNREACH ||
           error == ENETDOWN || error == EHOSTDOWN;
}

}  // namespace

Link::Link(base::Descriptor socket, std::size_t longest)
    : in_end_(std::move(socket)), longest_(longest) {
    set_loss_timeout(in_end_.get());
}

Link::Link(base::Descriptor in, base::Descriptor out, std::size_t longest)
    : in_end_(std::move(in)), out_end_(std::move(out)), longest_(longest) {
    fcntl(in_end_.get(), F_SETFL, O_NONBLOCK);
    fcntl(out_end_.get(), F_SETFL, O_NONBLOCK);
}

void Link::begin_sealing(Sealer sealer, Opener opener, std::size_t longest) {
    sealer_.emplace(std::move(sealer));
    opener_.emplace(std::move(opener));
    longest_ = longest;
}

void Link::send(std::string_view message) {
    if (over_) return;
    const std::string sealed = sealer_ ? sealer_->seal(message) : std::string(message);
    out_ += Packer().text(sealed).bytes();
    flush();
}

void Link::flush() {
    while (!over_ && !out_.empty()) {
        const ssize_t sent = out_end_
                                 ? write(out_end_.get(), out_.data(), out_.size())
                                 : ::send(in_end_.get(), out_.data(), out_.size(), MSG_NOSIGNAL);
        if (sent >= 0) {
            out_.erase(0, static_cast<std::size_t>(sent));
        } else if (errno == EAGAIN) {
            return;
        } else if (errno != EINTR) {
            // What the other end said before can still be read.
            const int error = errno;
            receive();
            errno = error;
            if (!over_) end_by_errno();
        }
    }
}

void Link::receive() {
    char piece[65536];
    while (!over_) {
        const ssize_t got = read(in_end_.get(), piece, sizeof piece);
        if (got > 0) {
            in_.append(piece, static_cast<std::size_t>(got));
            if (in_.size() > longest_ + 2 * sizeof piece) return;  // first some must be taken
        } else if (got == 0) {
            end("its connection ended");
        } else if (errno == EAGAIN) {
            return;
        } else if (errno != EINTR) {
            end_by_errno();
        }
    }
}

std::optional<std::string> Link::next() {
    if (in_.size() < kLengthBytes) return std::nullopt;
    const std::size_t added = sealer_ ? 64 : 0;  // at most, by sealing
    const std::size_t bytes = Unpacker(in_).number();
    if (bytes > longest_ + added) {
        in_.clear();
        end("it says too much at once");
        return std::nullopt;
    }
    if (in_.size() - kLengthBytes < bytes) return std::nullopt;
    std::string message = in_.substr(kLengthBytes, bytes);
    in_.erase(0, kLengthBytes + bytes);
    if (!opener_) return message;
    std::optional<std::string> opened = opener_->open(message);
    if (!opened) {
        in_.clear();
        end("what it says is not from the job");
    }
    return opened;
}

void Link::end(std::string why) {
    if (over_) return;
    over_ = true;
    why_ = std::move(why);
    out_.clear();
}

void Link::end_by_errno() {
    cut_ = says_unreachable(errno);
    end(std::strerror(errno));
}

}  // namespace peal::hosts
