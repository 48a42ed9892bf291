// SPDX-License-Identifier: Apache-2.0
#include "comm/storm/calls.hpp"

#include <unistd.h>

#include <cstring>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "peal/error.hpp"

namespace peal::storm {
namespace {

using Numbers = std::vector<std::int32_t>;

// The same on all ranks.
std::uint64_t mixed(std::uint64_t seed, int call) {
    std::uint64_t x = seed * 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(call);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

std::int32_t given(int rank, int call, std::size_t i) {
    return (rank + 1) * 1000 + call * 7 + static_cast<std::int32_t>(i % 101);
}

Numbers all_given(int rank, int call, std::size_t count) {
    Numbers numbers(count);
    for (std::size_t i = 0; i < count; ++i) numbers[i] = given(rank, call, i);
    return numbers;
}

void copy_text(const std::string& text, char* to, std::size_t room) {
    std::strncpy(to, text.c_str(), room - 1);
}

// A call with its buffers, and what must be in them afterwards.
struct Made {
    Numbers in, out, expected;
};

class Caller {
public:
    Caller(Communicator& comm, const Trial& trial, Note& note)
        : world_(comm), trial_(trial), note_(note), is_victim_(comm.rank() == trial.victim) {}

    void call_all() {
        for (int call = 0; call < trial_.calls; ++call) {
            note_.call = call;
            if (is_victim_ && call == trial_.when && trial_.trouble == Trouble::leave) return;
            if (trial_.split && call == kSplitAt) part_.emplace(world_.split(world_.rank() % 2));
            make(call);
        }
    }

private:
    static constexpr int kSplitAt = 5;

    void make(int call) {
        const bool in_part = part_ && call % kPartEvery == 0;
        Communicator& comm = in_part ? *part_ : world_;
        // The ranks of the world that take part.
        std::vector<int> ranks;
        for (int r = 0; r < world_.nranks(); ++r) {
            if (!in_part || r % 2 == world_.rank() % 2) ranks.push_back(r);
        }
        const std::uint64_t choice = mixed(trial_.seed, call);
        constexpr std::size_t kCounts[] = {1, 3, 40, 700, 5000, 60000};
        std::size_t count = kCounts[choice / 16 % std::size(kCounts)];
        const bool differs =
            is_victim_ && trial_.trouble == Trouble::mismatch && call == trial_.when;
        if (differs) ++count;
        Made made;
        switch (choice % 6) {
            case 0: allreduce(comm, ranks, call, count, made); break;
            case 1: allgather(comm, ranks, call, count, made); break;
            case 2: all_to_all(comm, ranks, call, count, made); break;
            case 3: broadcast(comm, ranks, call, count, choice, made); break;
            case 4: pass_around(comm, ranks, call, count, made); break;
            default: exchange(comm, ranks, call, count, made); break;
        }
        if (!differs && made.out != made.expected && note_.wrong[0] == '\0') {
            copy_text(fmt::format("rank {} has a wrong result in call {}", world_.rank(), call),
                      note_.wrong, sizeof note_.wrong);
        }
    }

    void carry_out(const std::function<void()>& block, const std::function<Pending()>& start) {
        if (trial_.style == Style::blocking) return block();
        Pending pending = start();
        if (trial_.style == Style::polling) {
            while (!pending.test()) usleep(1);
        }
        pending.wait();
    }

    void allreduce(Communicator& comm, const std::vector<int>& ranks, int call, std::size_t count,
                   Made& made) {
        made.out = all_given(world_.rank(), call, count);
        made.expected.resize(count);
        for (const int r : ranks) {
            for (std::size_t i = 0; i < count; ++i) made.expected[i] += given(r, call, i);
        }
        carry_out([&] { comm.allreduce(made.out); },
                  [&] { return comm.start_allreduce(made.out); });
    }

    void allgather(Communicator& comm, const std::vector<int>& ranks, int call, std::size_t count,
                   Made& made) {
        made.in = all_given(world_.rank(), call, count);
        made.out.resize(count * ranks.size());
        for (const int r : ranks) append(made.expected, all_given(r, call, count));
        carry_out([&] { comm.allgather(made.in, made.out); },
                  [&] { return comm.start_allgather(made.in, made.out); });
    }

    // Everybody sends its own numbers, shifted by the receiver's place.
    void all_to_all(Communicator& comm, const std::vector<int>& ranks, int call, std::size_t count,
                    Made& made) {
        for (std::size_t to = 0; to < ranks.size(); ++to) {
            append(made.in, all_given(world_.rank(), call + static_cast<int>(to), count));
        }
        made.out.resize(made.in.size());
        for (const int r : ranks) append(made.expected, all_given(r, call + comm.rank(), count));
        carry_out([&] { comm.all_to_all(made.in, made.out); },
                  [&] { return comm.start_all_to_all(made.in, made.out); });
    }

    void broadcast(Communicator& comm, const std::vector<int>& ranks, int call, std::size_t count,
                   std::uint64_t choice, Made& made) {
        const auto root = static_cast<int>(choice / 256 % ranks.size());
        made.expected = all_given(ranks[static_cast<std::size_t>(root)], call, count);
        made.out = comm.rank() == root ? made.expected : Numbers(count);
        carry_out([&] { comm.broadcast(made.out, root); },
                  [&] { return comm.start_broadcast(made.out, root); });
    }

    // The rank of the world that is so many places after this one among those that take part.
    static int at_distance(const Communicator& comm, const std::vector<int>& ranks, int distance) {
        const auto size = static_cast<int>(ranks.size());
        return ranks[static_cast<std::size_t>((comm.rank() + distance + size) % size)];
    }

    // A message to the right, one from the left; a rank alone has no neighbour.
    void pass_around(Communicator& comm, const std::vector<int>& ranks, int call, std::size_t count,
                     Made& made) {
        const auto size = static_cast<int>(ranks.size());
        if (size == 1) return;
        const int right = (comm.rank() + 1) % size, left = (comm.rank() + size - 1) % size;
        made.in = all_given(world_.rank(), call, count);
        made.out.resize(count);
        made.expected = all_given(at_distance(comm, ranks, -1), call, count);
        carry_out([&] { comm.sendrecv(made.in, right, made.out, left); },
                  [&] { return comm.start_sendrecv(made.in, right, made.out, left); });
    }

    // With both neighbours, who may be one.
    void exchange(Communicator& comm, const std::vector<int>& ranks, int call, std::size_t count,
                  Made& made) {
        const auto size = static_cast<int>(ranks.size());
        if (size == 1) return;
        const int right = (comm.rank() + 1) % size, left = (comm.rank() + size - 1) % size;
        made.in = all_given(world_.rank(), call, count);
        made.out.resize(2 * count);
        append(made.expected, all_given(at_distance(comm, ranks, -1), call, count));
        append(made.expected, all_given(at_distance(comm, ranks, 1), call, count));
        const std::span<std::int32_t> out = made.out;
        const Neighbour neighbours[] = {{left, made.in, out.first(count)},
                                        {right, made.in, out.last(count)}};
        carry_out([&] { comm.exchange(neighbours); },
                  [&] { return comm.start_exchange(neighbours); });
    }

    static void append(Numbers& to, const Numbers& more) {
        to.insert(to.end(), more.begin(), more.end());
    }

    Communicator& world_;
    std::optional<Communicator> part_;
    const Trial& trial_;
    Note& note_;
    const bool is_victim_;
};

}  // namespace

void call_all(Communicator& comm, const Trial& trial, Note& note) {
    note.pid = getpid();
    note.state = Note::calling;
    try {
        Caller(comm, trial, note).call_all();
        note.state = Note::finished;
    } catch (const Error& error) {
        copy_text(error.what(), note.message, sizeof note.message);
        note.state = Note::told;
    }
}

}  // namespace peal::storm
