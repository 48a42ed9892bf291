// SPDX-License-Identifier: Apache-2.0
// Rounds that are alike are carried out twice and then repeated. A kernel with a source has all of
// them carried out, for its messages: so both ways are compared.
#include "plan/draft.hpp"

#include <optional>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "peal/program.hpp"
#include "plan/compile_rank.hpp"
#include "plan/specialise.hpp"

namespace peal::plan {
namespace draft_test {

// A kernel of loops, written at random: places that grow, come round or stay, and branches, minima
// and remainders that change their minds on the way.
class RandomKernel {
public:
    explicit RandomKernel(std::uint64_t seed)
        : random_(seed), rarity_(static_cast<Rarity>(seed % 8)) {}

    std::string text() {
        std::string body = statements(2, {});
        body += loop("i", below(4) == 0 ? "2" : "0", fmt::format("{}", 5 + below(60)));
        body += statements(1, {});
        if (below(2)) body += loop("i2", fmt::format("{}", below(3)), "m");
        return "kernel k(x: in f32[4096], y: inout f32[4096], w: window f32[4096], "
               "sig: window i64[64], narrow: window i32[64], m: index) {\n" +
               body + "advance sig by 9\nadvance narrow by 3\n}\n";
    }

private:
    using Names = std::vector<std::string>;

    // What mostly keeps rounds from being alike: a kernel has one of them, or none.
    enum class Rarity : std::uint8_t { bits, difference, product, narrow, moving_place, advance };
    bool may(Rarity rarity) { return rarity == rarity_ && below(3) == 0; }

    std::uint64_t below(std::uint64_t end) { return random_() % end; }

    std::string loop(const std::string& counter, const std::string& lo, const std::string& hi) {
        return fmt::format("for {} in {}..{} {{\n{}}}\n", counter, lo, hi,
                           statements(1 + below(4), {counter}));
    }

    std::string statements(std::uint64_t count, const Names& names) {
        std::string text;
        for (std::uint64_t i = 0; i < count; ++i) text += statement(names);
        return text;
    }

    std::string statement(const Names& names) {
        const std::string length = below(8) == 0 ? number(names) + " % 5" : "4";
        const auto part = [&](std::string_view memory) {
            return fmt::format("{}[{}; {}]", memory, place(names), length);
        };
        if (may(Rarity::advance)) return fmt::format("advance sig by {}\n", below(4));
        switch (below(names.size() < 3 ? 11 : 8)) {
            case 0: return fmt::format("{} = {}\n", part("y"), part("x"));
            case 1: return fmt::format("put {} = {}\n", part(window(names)), part("x"));
            case 2: return fmt::format("{} = {} + {}\n", part("y"), part("x"), part("w@1"));
            case 3: return fmt::format("{} = {} + {}\n", part("w"), part("w@1"), part("y"));
            case 4: {
                const std::string signal = signal_name();
                return fmt::format("notify {}@1[{} % 64] = {}\n", signal, number(names),
                                   value(signal, names));
            }
            case 5: {
                const std::string signal = signal_name();
                return fmt::format("wait {}[{}] >= {}\n", signal, number({}), value(signal, names));
            }
            case 6: return fmt::format("{} = {} + {}\n", part("y"), part("y"), part("y"));
            case 7: return fmt::format("put {} = {}\n", part("w@0"), part("w"));
            case 8: {
                Names inner = names;
                inner.push_back(fmt::format("j{}", ++counters_));
                return fmt::format("for {} in 0..{} {{\n{}}}\n", inner.back(), 1 + below(6),
                                   statements(1 + below(2), inner));
            }
            case 9:
                return fmt::format("if {} {} {} {{\n{}}}\n", number(names),
                                   below(2) ? "<" : (below(2) ? "==" : ">="), number(names),
                                   statements(1, names));
            default: {
                const std::string tile = fmt::format("t{}", ++counters_);
                return fmt::format("{} = x[{}; 4]\n{}y[{}; 4] = {} * 2.0\n", tile, place(names),
                                   statements(1, names), place(names), tile);
            }
        }
    }

    std::string window(const Names& names) {
        return below(6) == 0 ? fmt::format("w@({} % 2)", number(names)) : "w@1";
    }
    std::string signal_name() { return may(Rarity::narrow) ? "narrow" : "sig"; }
    // Some of those for a narrow cell outgrow it on the way.
    std::string value(const std::string& signal, const Names& names) {
        const std::string relative = fmt::format("generation({})", signal);
        if (may(Rarity::product)) return fmt::format("{} * {}", relative, number(names));
        const int factor = signal == "narrow" ? 1 << below(28) : 1;
        return fmt::format("{} + {} * {}", relative, number(names), factor);
    }
    // It moves with the generation.
    std::string moving_place(const Names& names) {
        const auto either = [&](int a, int b) { return below(2) ? a : b; };
        return fmt::format("((generation(sig) * {} + {}) / {} % {} / {} * 4 + {} % 4080)",
                           1 + below(3), number(names), 1 + below(3), either(2, 4), either(1, 2),
                           number(names));
    }

    // Most are in the memory in every round.
    std::string place(const Names& names) {
        if (may(Rarity::moving_place)) return moving_place(names);
        if (below(12) == 0) return number(names);
        return fmt::format("{} % {}", number(names), below(3) == 0 ? 80 : 4092);
    }

    std::string number(const Names& names, int depth = 3) {
        const auto inner = [&] { return number(names, depth - 1); };
        if (depth == 0 || below(4) == 0) {
            const std::uint64_t which = below(names.size() + 2);
            if (which < names.size()) return names[which];
            return which == names.size() ? "m" : fmt::format("{}", below(40));
        }
        if (may(Rarity::bits)) return bits(inner());
        if (may(Rarity::difference)) return difference(inner());
        switch (below(9)) {
            case 0: return fmt::format("({} + {})", inner(), inner());
            case 1: return fmt::format("({} - {})", inner(), inner());
            case 2: return fmt::format("({} * {})", inner(), 1 + below(9));
            case 3: return fmt::format("({} % {})", inner(), 1 + below(9));
            case 4: return fmt::format("({} / {})", inner(), 1 + below(9));
            case 5: return fmt::format("min({}, {})", inner(), inner());
            case 6: return fmt::format("max({}, {})", inner(), inner());
            default: return fmt::format("({} * {} + {})", inner(), 4 * below(9), inner());
        }
    }
    std::string bits(const std::string& number) {
        switch (below(3)) {
            case 0: return fmt::format("({} << {})", number, below(4));
            case 1: return fmt::format("({} >> {})", number, below(4));
            default: return fmt::format("({} xor {})", number, below(9));
        }
    }
    // A multiple of the number, by way of values relative to a generation.
    std::string difference(const std::string& number) {
        return fmt::format("((generation(sig) + {1}) * {0} - generation(sig) * {0})", number,
                           below(5));
    }

    std::mt19937_64 random_;
    Rarity rarity_;
    int counters_ = 0;
};

ir::Program without_source(ir::Program program) {
    program.source = nullptr;
    return program;
}

std::optional<Plan> plan_of(const ir::Program& program, std::int64_t m, bool fuse) {
    CompileOptions options;
    options.fuse = fuse;
    try {
        return compile_rank(resolve(program, "k"), {{{"m", m}}, {}, {}}, 0, 2, options);
    } catch (const Error&) {
        return std::nullopt;
    }
}

bool has_repeats(const ir::Program& program, std::int64_t m) {
    return !specialise(resolve(program, "k"), {{{"m", m}}, {}, {}}, 0, 2).repeats.empty();
}

TEST(Draft, RepeatsWhatEachRoundWouldBe) {
    int plans = 0, repeated = 0;
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
        const std::string text = RandomKernel(seed).text();
        const ir::Program program =
            lower(parse(std::make_shared<const Source>("random.peal", text)));
        const ir::Program bare = without_source(program);
        for (const std::int64_t m : {0, 7, 50}) {
            for (const bool fuse : {false, true}) {
                const std::optional<Plan> expected = plan_of(program, m, fuse);
                ASSERT_EQ(plan_of(bare, m, fuse), expected) << text << "m " << m;
                if (expected) ++plans, repeated += has_repeats(bare, m);
            }
        }
    }
    EXPECT_GT(plans, 2000);
    EXPECT_GT(repeated, plans / 4);
}

}  // namespace draft_test
}  // namespace peal::plan
