// SPDX-License-Identifier: Apache-2.0
// Writes the instructions of all ranks in one order in which they can happen, so that most programs
// get to their end in some interleaving; then may spoil one.
#include <map>
#include <tuple>

#include "check/crosscheck/dice.hpp"

namespace peal::test {
namespace {

constexpr std::int64_t kMost = 2147483647;

class SignalWriter {
public:
    SignalWriter(std::uint64_t seed, bool monotone)
        : dice_(seed), monotone_(monotone), plans_(dice_.chance(75) ? 2 : 3) {}

    RandomProgram write() {
        const int nranks = plans_.nranks();
        size_ = dice_.chance(60) ? 1 : 2;
        const std::uint64_t bytes = 2 * size_;
        window_ = size_ * static_cast<std::uint64_t>(nranks + 1);
        is_bare_ = dice_.chance(25);
        if (!is_bare_) {
            input_ = plans_.argument("input", Direction::in, bytes, Element::u8);
            output_ = plans_.argument("output", Direction::out, bytes, Element::u8);
            data_ = plans_.window("data", window_, Element::u8);
        }
        for (int i = dice_.chance(30) ? 2 : 1; i > 0; --i) add_signal();
        keeps_apart_ = dice_.chance(55);
        const int length = dice_.pick(3, nranks == 2 ? 8 : 6);
        for (int i = 0; i < length; ++i) add();
        RandomStage stage = stage_of(plans_);
        if (dice_.chance(30)) spoil(dice_, stage.plans);
        if (!is_bare_ && dice_.chance(18)) give_meaning(stage);
        RandomProgram program;
        program.calls = nranks == 3   ? dice_.pick(1, 2)
                        : length <= 4 ? dice_.pick(1, 5)
                                      : dice_.pick(1, 2);
        program.stages.push_back(std::move(stage));
        return program;
    }

private:
    struct Signal {
        std::uint16_t buffer = 0;
        int cells = 1;
        std::int64_t relative = 0;
        std::int64_t base = 0;  // values are counted from here
        bool sets = true;       // or only adds
    };

    void add_signal() {
        Signal signal;
        const std::int64_t advance = dice_.pick(0, 2);
        // Without one cell per writer, writers meet.
        const int nranks = plans_.nranks();
        signal.cells = monotone_ && dice_.chance(80) ? nranks : dice_.pick(1, nranks);
        signal.relative = advance != 0 && dice_.chance(70) ? 1 : 0;
        if (dice_.chance(15)) signal.base = kMost - dice_.pick(0, 8);
        signal.sets = dice_.chance(75);
        const std::string name = signals_.empty() ? "signal" : "other";
        signal.buffer = plans_.signal(name, static_cast<std::uint64_t>(signal.cells), advance,
                                      dice_.one_of<std::uint64_t>({64, 64, 64, 8, 32}),
                                      dice_.chance(75) ? Element::i32 : Element::i64);
        signals_.push_back(signal);
    }

    Range part(int rank, std::uint16_t buffer, std::uint64_t bytes) {
        const auto length = size_ * static_cast<std::uint64_t>(dice_.pick(1, 2));
        // Some parts of elements.
        const std::uint64_t grain = dice_.chance(85) ? size_ : 1;
        const auto last = static_cast<int>((bytes - length) / grain);
        return {buffer, rank, grain * static_cast<std::uint64_t>(dice_.pick(0, last)), length};
    }

    void add() {
        const int me = dice_.pick(0, plans_.nranks() - 1);
        const int what = dice_.pick(1, 10);
        if (!is_bare_ && what <= (keeps_apart_ ? 2 : 4)) {
            add_data(me);
        } else if (what <= 8) {
            add_notify(me);
        } else {
            const Signal& signal = dice_.one_of(signals_);
            add_wait(signal, me, dice_.pick(0, signal.cells - 1));
        }
    }

    void add_data(int me) {
        RankPlan rank = plans_.on(me);
        const Element element = size_ == 1 ? Element::u8 : Element::i16;
        std::vector<Range>& written = written_[keeps_apart_ ? me : 0];
        if (written.empty() || dice_.chance(50)) {
            const int to = keeps_apart_ ? me : dice_.pick(0, plans_.nranks() - 1);
            const Range there = part(to, data_, window_);
            const Range mine = rank.in(input_, 0, there.length);
            const int way = dice_.pick(1, 100);
            if (way <= 20 && there.offset % size_ == 0) {
                const Element other = size_ == 1 ? Element::i8 : Element::f16;
                rank.accumulate(there, mine, dice_.chance(90) ? element : other);
            } else if (way <= 28) {
                rank.fill(there, dice_.pick(0, 1), element);
            } else if (way <= 36) {
                rank.map(dice_.chance(50) ? MapOp::add_scalar : MapOp::mul_scalar, there, mine, 1,
                         element);
            } else if (way <= 40) {
                rank.clobber(there);
            } else {
                rank.copy(there, mine);
            }
            written.push_back(there);
            return;
        }
        const Range there = dice_.one_of(written);
        const Range here = rank.in(output_, 0, there.length);
        if (dice_.chance(50)) {
            rank.copy(here, there);
        } else {
            Range one = there, more = dice_.one_of(written);
            one.length = more.length = size_;
            rank.reduce(rank.in(output_, 0, size_), {one, more}, ReduceOp::sum, element);
        }
    }

    void add_notify(int me) {
        const Signal& signal = dice_.one_of(signals_);
        const int peer = dice_.pick(0, plans_.nranks() - 1);
        const bool is_mine = signal.cells == plans_.nranks() && monotone_;
        const int cell = is_mine ? me : dice_.pick(0, signal.cells - 1);
        std::int64_t& value = values_[{signal.buffer, peer, cell}];
        const auto index = static_cast<std::uint64_t>(cell);
        if (signal.sets && dice_.chance(60)) {
            value = monotone_ ? std::max(value, signal.base) + dice_.pick(0, 2)
                              : signal.base + dice_.pick(0, 3);
            plans_.on(me).set(signal.buffer, peer, index, {value, signal.relative});
        } else {
            std::int64_t by = monotone_ ? dice_.pick(1, 2) : dice_.pick(-2, 2);
            if (!signal.sets && value < signal.base) by += signal.base - value;
            value += by;
            plans_.on(me).increase(signal.buffer, peer, index, fixed(by));
        }
        if (dice_.chance(70)) add_wait(signal, peer, cell);
    }

    void add_wait(const Signal& signal, int me, int cell) {
        const std::int64_t value = values_[{signal.buffer, me, cell}];
        const auto ask = [&](Compare compare, std::int64_t constant) {
            plans_.on(me).wait(signal.buffer, static_cast<std::uint64_t>(cell), compare,
                               {constant, signal.relative});
        };
        if (dice_.chance(monotone_ ? 80 : 35)) return ask(Compare::ge, value - dice_.pick(0, 1));
        if (monotone_) return ask(Compare::gt, value - 1 - dice_.pick(0, 1));
        switch (dice_.pick(1, 6)) {
            case 1: return ask(Compare::ne, value + 1);
            case 2: return ask(Compare::le, value);
            case 3: return ask(Compare::lt, value + 1);
            case 4: return ask(Compare::gt, value - 1);
            default: return ask(Compare::eq, value);
        }
    }

    void give_meaning(RandomStage& stage) {
        stage.has_meaning = true;
        stage.meaning.name = "random";
        const int rank = dice_.pick(0, static_cast<int>(stage.plans.size()) - 1);
        std::vector<Contribution> of;
        for (int i = dice_.pick(1, 2); i > 0; --i) {
            of.push_back({dice_.pick(0, static_cast<int>(stage.plans.size()) - 1), input_, 0});
        }
        stage.meaning.outputs.push_back({rank, output_, 0, size_, contributions(of), ReduceOp::sum,
                                         size_ == 1 ? Element::u8 : Element::i16});
        if (dice_.chance(50)) stage.meaning.staged.push_back({rank, data_, 0, size_});
    }

    Dice dice_;
    bool monotone_;
    bool is_bare_ = false;      // signals only
    bool keeps_apart_ = false;  // each rank touches its own window only
    Plans plans_;
    std::uint64_t size_ = 1, window_ = 0;
    std::uint16_t input_ = 0, output_ = 0, data_ = 0;
    std::vector<Signal> signals_;
    std::map<int, std::vector<Range>> written_;  // by rank, if they keep apart
    std::map<std::tuple<int, int, int>, std::int64_t> values_;
};

}  // namespace

RandomProgram random_signals(std::uint64_t seed, bool monotone) {
    return SignalWriter(seed, monotone).write();
}

}  // namespace peal::test
