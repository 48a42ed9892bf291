// SPDX-License-Identifier: Apache-2.0
// The way to the memory of ranks on other hosts: puts, gets, adds, and letters.
//
// Nothing here waits. What is issued is on its way; progress() moves it, in both directions: over
// most transports nothing that others send is seen here until this process makes progress. Any
// thread may call.
//
// Order. Two operations on the memory of one rank with a fence() between them are seen there in
// this order. Of operations on the memory of different ranks nothing is known until a flush() of
// the first is done.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace peal::hosts {

// Memory of another rank, as long as this exists.
class Remote {
public:
    virtual ~Remote() = default;
    virtual int rank() const = 0;
};

// Memory of this rank that others may use, as long as this exists.
class Offer {
public:
    virtual ~Offer() = default;
    // What they need to know of it: any bytes.
    virtual const std::string& key() const = 0;
};

// How much of what somebody has issued is under way. What it is to or from here must stay until
// nothing is, however it ends.
class Flight {
public:
    bool is_over() const { return count_->load(std::memory_order_acquire) == 0; }

    // For the net: its share, which ends with its last copy.
    using Share = std::shared_ptr<std::atomic<std::uint64_t>>;
    Share begin() const {
        count_->fetch_add(1, std::memory_order_relaxed);
        return count_;
    }
    static void end(const Share& share) { share->fetch_sub(1, std::memory_order_release); }

private:
    Share count_ = std::make_shared<std::atomic<std::uint64_t>>(0);
};

class Net {
public:
    virtual ~Net() = default;

    // What others need to know of this rank, and what this one needs to know of them: any bytes.
    virtual std::string address() const = 0;
    virtual void know(int rank, std::string address) = 0;
    // Whether the two have heard each other, after both know each other and make progress.
    virtual bool is_connected(int rank) const = 0;

    virtual std::unique_ptr<Offer> offer(std::byte* begin, std::uint64_t bytes) = 0;
    virtual std::unique_ptr<Remote> reach(int rank, std::string_view key) = 0;

    // ---- what is issued

    // May stay here until something else is issued to the rank, or the next progress().
    virtual void put(const Flight& in, Remote& to, std::uint64_t offset, const std::byte* from,
                     std::uint64_t bytes) = 0;
    // A put, behind a fence(), of at most a line, that goes now. With `flushed`, a flush() too:
    // where the other rank must answer, it has done so by the time it sees what was put, since it
    // may never look again.
    virtual void tell(const Flight& in, const Flight* flushed, Remote& to, std::uint64_t offset,
                      const std::byte* from, std::uint64_t bytes) = 0;
    virtual void get(const Flight& in, std::byte* to, Remote& from, std::uint64_t offset,
                     std::uint64_t bytes) = 0;
    // To an integer of 4 or 8 bytes; atomic with what the ranks of that host do there themselves.
    // `before` gets what it was.
    virtual void add(const Flight& in, Remote& to, std::uint64_t offset, std::int64_t value,
                     int bytes, std::int64_t* before) = 0;
    virtual void fence() = 0;
    // All that was issued to the rank before is complete in its memory when this is over.
    virtual void flush(const Flight& in, int rank) = 0;
    // Kept until it is sent; the letters from one rank to another come in order.
    virtual void post(int rank, std::string letter) = 0;

    // ---- what becomes of it

    virtual void progress() = 0;
    // Waits until something may have come, not longer than so.
    virtual void nap(std::chrono::microseconds limit) = 0;
    // Whoever sees here what another thread's progress has changed sees all that came with it.
    virtual void catch_up() = 0;

    struct Letter {
        int from = -1;
        std::string text;
    };
    virtual std::optional<Letter> letter() = 0;

    // Why the rank cannot be reached any more; nothing while it can.
    virtual std::optional<std::string> trouble(int rank) const = 0;
    // Whether a put that does not leave a cache line is seen there as a whole, and not in pieces.
    virtual bool keeps_lines(int rank) = 0;
    // "tcp", "rc_mlx5", ...: what carries it, for people. Empty: nothing has been sent yet.
    virtual std::string transport(int rank) = 0;
};

// The net of this process, which is this rank. Throws Error(usage) if Peal was built without it,
// Error(resource) if its library is not there or finds no network. `is_direct`: whatever carries it
// is treated as an adapter that reaches memory by itself.
std::unique_ptr<Net> open_net(int rank, bool is_direct = false);

}  // namespace peal::hosts
