// SPDX-License-Identifier: Apache-2.0
// Few steps, called again and again: values that grow, additions that are taken back, waits that
// ask for what calls long ago left, contents that move on by a place in each call. What is wrong
// with them often shows only after several calls.
#include "check/crosscheck/dice.hpp"

namespace peal::test {
namespace {

constexpr std::int64_t kLargest = 2147483647;

class RoundWriter {
public:
    explicit RoundWriter(std::uint64_t seed) : dice_(seed), plans_(dice_.chance(85) ? 2 : 3) {}

    RandomProgram write() {
        input_ = plans_.argument("input", Direction::in, 1, Element::u8);
        output_ = plans_.argument("output", Direction::out, 1, Element::u8);
        data_ = plans_.window("data", kSlots, Element::u8);
        for (int i = dice_.chance(40) ? 2 : 1; i > 0; --i) add_signal();
        std::vector<std::size_t> order;
        for (std::size_t s = 0; s < signals_.size(); ++s) {
            for (std::size_t i = 0; i < signals_[s].amounts.size(); ++i) order.push_back(s);
        }
        dice_.shuffle(order);
        if (dice_.chance(35)) move_on();
        for (const std::size_t s : order) exchange(signals_[s]);
        if (dice_.chance(15)) move_on();
        for (Signal& signal : signals_) {
            if (signal.way == Way::credit && !signal.takes_at_once) take_back(signal);
        }
        if (dice_.chance(12)) add_lone_wait();
        RandomStage stage = stage_of(plans_);
        if (dice_.chance(22)) spoil(dice_, stage.plans);
        RandomProgram program;
        program.calls = dice_.pick(1, plans_.nranks() == 2 ? 4 : 2);
        program.stages.push_back(std::move(stage));
        return program;
    }

private:
    static constexpr std::uint64_t kSlots = 4;

    enum class Way : std::uint8_t { set, add, credit };

    // In each call every rank that owns a cell of it is sent the same amounts, one after the other.
    struct Signal {
        std::uint16_t buffer = 0;
        Way way = Way::set;
        std::vector<std::int64_t> amounts;
        std::size_t done = 0;
        std::int64_t sum = 0;   // of those done
        std::int64_t base = 0;  // values are counted from here
        std::int64_t total = 0;
        bool takes_at_once = false;
        std::vector<int> owners;
    };

    void add_signal() {
        Signal signal;
        signal.way = dice_.one_of<Way>({Way::set, Way::set, Way::add, Way::credit, Way::credit});
        for (int i = dice_.pick(1, 2); i > 0; --i) {
            signal.amounts.push_back(dice_.pick(1, 2));
            signal.total += signal.amounts.back();
        }
        signal.takes_at_once = dice_.chance(50);
        if (signal.way == Way::set && dice_.chance(8)) signal.base = kLargest - dice_.pick(0, 14);
        const bool counts = signal.way != Way::credit;
        const std::int64_t drift = dice_.chance(4) ? 1 : 0;
        signal.buffer =
            plans_.signal(signals_.empty() ? "signal" : "other", 1,
                          counts ? signal.total + drift : dice_.pick(0, 1), kCacheLineBytes,
                          dice_.chance(75) ? Element::i32 : Element::i64);
        for (int rank = 0; rank < plans_.nranks(); ++rank) {
            if (rank == 0 || dice_.chance(70)) signal.owners.push_back(rank);
        }
        signals_.push_back(std::move(signal));
    }

    int other_than(int rank) {
        const int other = dice_.pick(0, plans_.nranks() - 2);
        return other < rank ? other : other + 1;
    }

    Range slot(int rank) {
        return {data_, rank, static_cast<std::uint64_t>(dice_.pick(0, kSlots - 1)), 1};
    }

    // Everybody who owns a cell is told, and then looks.
    void exchange(Signal& signal) {
        const std::int64_t amount = signal.amounts[signal.done++];
        signal.sum += amount;
        const Range place = slot(0);
        for (const int owner : signal.owners) {
            const int writer = other_than(owner);
            Range there = place;
            there.rank = owner;
            if (dice_.chance(40)) put(writer, there);
            ring(signal, writer, owner, amount);
        }
        for (const int owner : signal.owners) {
            look(signal, owner, amount);
            Range here = place;
            here.rank = owner;
            RankPlan rank = plans_.on(owner);
            if (dice_.chance(25)) rank.copy(rank.in(output_, 0, 1), here);
        }
    }

    void put(int writer, const Range& there) {
        RankPlan rank = plans_.on(writer);
        const Range mine = rank.in(input_, 0, 1);
        const int way = dice_.pick(1, 10);
        if (way <= 2) {
            rank.accumulate(there, mine, Element::u8);
        } else if (way <= 3) {
            rank.fill(there, dice_.pick(0, 1), Element::u8);
        } else {
            rank.copy(there, mine);
        }
    }

    void ring(const Signal& signal, int writer, int owner, std::int64_t amount) {
        if (signal.way == Way::set) {
            plans_.on(writer).set(signal.buffer, owner, 0, {signal.base + signal.sum, 1});
        } else {
            plans_.on(writer).increase(signal.buffer, owner, 0, fixed(amount));
        }
    }

    void look(const Signal& signal, int owner, std::int64_t amount) {
        const bool is_exact = dice_.chance(8);
        const auto wait = [&](Value value) {
            plans_.on(owner).wait(signal.buffer, 0, is_exact ? Compare::eq : Compare::ge, value);
        };
        if (signal.way == Way::credit) {
            wait(fixed(signal.takes_at_once ? amount : signal.sum));
            if (signal.takes_at_once) take(signal, owner, amount);
            return;
        }
        // What so many calls before have brought.
        const std::int64_t lag = dice_.chance(12) ? dice_.pick(1, 5) : 0;
        wait({signal.base + signal.sum - lag * signal.total, 1});
    }

    // By its owner, and rarely by somebody else, or too much.
    void take(const Signal& signal, int owner, std::int64_t amount) {
        const int taker = dice_.chance(4) ? other_than(owner) : owner;
        plans_.on(taker).increase(signal.buffer, owner, 0,
                                  fixed(-amount - (dice_.chance(4) ? 1 : 0)));
    }

    void take_back(const Signal& signal) {
        for (const int owner : signal.owners) take(signal, owner, signal.total);
    }

    // From place to place in the rank's own window.
    void move_on() {
        RankPlan rank = plans_.on(dice_.pick(0, plans_.nranks() - 1));
        const auto first = static_cast<std::uint64_t>(dice_.pick(0, kSlots - 2));
        if (dice_.chance(60)) rank.copy(rank.in(data_, first, 1), rank.in(input_, 0, 1));
        const std::uint64_t next = first + 1;
        if (dice_.chance(50)) {
            rank.copy(rank.in(data_, next, 1), rank.in(data_, first, 1));
        } else {
            rank.accumulate(rank.in(data_, next, 1), rank.in(data_, first, 1), Element::u8);
            if (dice_.chance(60)) rank.fill(rank.in(data_, next, 1), 0, Element::u8);
        }
    }

    // For a cell that nobody rings: it passes for some calls, because it asks for nothing yet.
    void add_lone_wait() {
        const std::uint16_t quiet = plans_.signal("quiet", 1, 1);
        plans_.on(0).wait(quiet, 0, Compare::ge, {-dice_.pick(0, 6), 1});
    }

    Dice dice_;
    Plans plans_;
    std::uint16_t input_ = 0, output_ = 0, data_ = 0;
    std::vector<Signal> signals_;
};

}  // namespace

RandomProgram random_rounds(std::uint64_t seed) { return RoundWriter(seed).write(); }

}  // namespace peal::test
