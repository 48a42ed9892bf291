// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "peal/error.hpp"
#include "peal/pto.hpp"

namespace peal::pto {
namespace parameters_test {

using Kind = Parameter::Kind;

TEST(PtoParameter, IsReadFromText) {
    EXPECT_EQ(parameter_from("in:f32[256]", 4), (Parameter{Kind::in, Element::f32, 256, 0, 16, 0}));
    EXPECT_EQ(parameter_from("out:f16[64*P]", 4),
              (Parameter{Kind::out, Element::f16, 256, 0, 16, 0}));
    EXPECT_EQ(parameter_from("inout:u8[(P+1)*8/3]", 5),
              (Parameter{Kind::inout, Element::u8, 16, 0, 16, 0}));
    EXPECT_EQ(parameter_from("window:f32[256]+signals:2*(P-1)x16", 4),
              (Parameter{Kind::window, Element::f32, 256, 6, 16, 0}));
    EXPECT_EQ(parameter_from("window:bf16[P+1]", 4),
              (Parameter{Kind::window, Element::bf16, 5, 0, 16, 0}));
    EXPECT_EQ(parameter_from("window:signals:1x4", 4),
              (Parameter{Kind::window, Element::f32, 0, 1, 4, 0}));
    EXPECT_EQ(parameter_from("scalar:-7", 4),
              (Parameter{Kind::scalar, Element::f32, 0, 0, 16, -7}));
    EXPECT_EQ(parameter_from("in:f32[P,64,2]", 4),
              (Parameter{Kind::in, Element::f32, 512, 0, 16, 0, {4, 64, 2}}));
    EXPECT_EQ(parameter_from("address:64*P", 4),
              (Parameter{Kind::address, Element::f32, 0, 0, 16, 256}));
    for (const auto& [text, kind] : {std::pair{"nranks", Kind::nranks},
                                     {"rank", Kind::rank},
                                     {"context", Kind::context},
                                     {"generation", Kind::generation}}) {
        EXPECT_EQ(parameter_from(text, 4).kind, kind);
    }
}

TEST(PtoParameter, MayUseNamesThatHaveValues) {
    Bindings names;
    names.integers = {{"n", 10}, {"stage_2", 7}, {"root", 3}};
    const auto count = [&](const std::string& text) {
        return parameter_from(text, 6, names).count;
    };
    EXPECT_EQ(count("in:f32[n]"), 10U);
    EXPECT_EQ(count("in:f32[P*((n+15)/16*16)]"), 96U);
    EXPECT_EQ(count("window:f32[max(stage_2,P*4)]+signals:(n)x16"), 24U);
    EXPECT_EQ(count("window:f32[min(stage_2,n%4)]+signals:Px16"), 2U);
    EXPECT_EQ(count("out:f32[log2(P)+log2(1)]"), 2U);
    EXPECT_EQ(parameter_from("window:signals:(n+P)x16", 6, names).signal_rows, 16U);
    EXPECT_EQ(parameter_from("window:signals:Px16", 6, names).signal_rows, 6U);
    EXPECT_EQ(parameter_from("scalar:root", 6, names).value, 3);

    using Names = std::set<std::string>;
    EXPECT_EQ(names_in("window:f32[max(stage_2,P*4)]+signals:(n+2)x16"), (Names{"stage_2", "n"}));
    EXPECT_EQ(names_in("window:f32[256]+signals:2x16"), Names{});
    EXPECT_EQ(names_in("window:signals:Px16"), Names{});
    EXPECT_EQ(names_in("scalar:root"), Names{"root"});
    EXPECT_EQ(names_in("generation"), Names{});
}

std::string rejection(const std::string& text) {
    try {
        parameter_from(text, 4);
    } catch (const Error& error) {
        EXPECT_EQ(error.fault(), Fault::usage);
        const std::string what = error.what();
        return what.substr(0, what.find("; examples: "));
    }
    return "none";
}

TEST(PtoParameter, SaysWhatIsWrongWithTheText) {
    EXPECT_EQ(
        rejection(""),
        "--arg '': expected in, out, inout, window, scalar, address, nranks, rank, context or "
        "generation, found the end");
    EXPECT_EQ(
        rejection("input:f32[4]"),
        "--arg 'input:f32[4]': expected in, out, inout, window, scalar, address, nranks, rank, "
        "context or generation, found 'input:f32[4]'");
    EXPECT_EQ(rejection("in"), "--arg 'in': expected ':', found the end");
    EXPECT_EQ(rejection("in:f64[4]"),
              "--arg 'in:f64[4]': expected an element type (f32 f16 bf16 i32 i16 i8 u8), found "
              "'f64[4]'");
    EXPECT_EQ(rejection("in:f32[0]"),
              "--arg 'in:f32[0]': expected a number of elements from 1 to 2147483648, found '0]'");
    EXPECT_EQ(rejection("in:f32[n]"), "--arg 'in:f32[n]': 'n' has no value; say --set n=<value>");
    EXPECT_EQ(rejection("in:f32[!]"),
              "--arg 'in:f32[!]': expected a number, P, a name or '(', found '!]'");
    EXPECT_EQ(rejection("in:f32[sqrt(4)]"),
              "--arg 'in:f32[sqrt(4)]': expected min, max or log2, found 'sqrt(4)]'");
    EXPECT_EQ(rejection("in:f32[log2(P-4)]"),
              "--arg 'in:f32[log2(P-4)]': expected log2 of a positive number, found 'log2(P-4)]'");
    EXPECT_EQ(rejection("in:f32[4/(P-4)]"),
              "--arg 'in:f32[4/(P-4)]': expected a positive divisor, found '(P-4)]'");
    EXPECT_EQ(rejection("in:f32[65536,65536]"),
              "--arg 'in:f32[65536,65536]': expected at most 2147483648 elements, found "
              "'65536,65536]'");
    EXPECT_EQ(rejection("in:f32[1,1,1,1,1,1]"),
              "--arg 'in:f32[1,1,1,1,1,1]': expected ']', found ',1]'");
    EXPECT_EQ(rejection("in:f32[4"), "--arg 'in:f32[4': expected ']', found the end");
    EXPECT_EQ(rejection("in:f32[4]x"), "--arg 'in:f32[4]x': expected its end, found 'x'");
    EXPECT_EQ(rejection("window:f32[4]+signal:2x16"),
              "--arg 'window:f32[4]+signal:2x16': expected 'signals:', found 'signal:2x16'");
    EXPECT_EQ(rejection("scalar:9223372036854775807*2"),
              "--arg 'scalar:9223372036854775807*2': expected a number of 64 bits, found the end");
}

std::vector<std::uint64_t> sizes(CollectiveKind kind, int nranks) {
    Collective collective;
    collective.kind = kind;
    collective.count = 10;
    std::vector<std::uint64_t> counts;
    for (const Parameter& parameter : preset(collective, nranks)) {
        if (parameter.count != 0) counts.push_back(parameter.count);
    }
    return counts;
}

TEST(PtoPreset, GivesTheSeedsArguments) {
    using Sizes = std::vector<std::uint64_t>;
    EXPECT_EQ(sizes(CollectiveKind::allreduce, 4), (Sizes{10, 10, 10}));
    EXPECT_EQ(sizes(CollectiveKind::allgather, 4), (Sizes{10, 40, 10}));
    EXPECT_EQ(sizes(CollectiveKind::reduce_scatter, 4), (Sizes{40, 10, 40}));
    EXPECT_EQ(sizes(CollectiveKind::broadcast, 4), (Sizes{10, 10, 10}));
    EXPECT_EQ(sizes(CollectiveKind::all_to_all, 4), (Sizes{40, 40, 40}));
}

std::vector<Kind> kinds(CollectiveKind kind) {
    Collective collective;
    collective.kind = kind;
    collective.count = 10;
    collective.root = 1;
    std::vector<Kind> list;
    for (const Parameter& parameter : preset(collective, 4)) list.push_back(parameter.kind);
    return list;
}

TEST(PtoPreset, HasTheRootOfABroadcastBeforeTheContext) {
    EXPECT_EQ(kinds(CollectiveKind::allreduce),
              (std::vector{Kind::in, Kind::out, Kind::window, Kind::nranks, Kind::context,
                           Kind::generation}));
    EXPECT_EQ(kinds(CollectiveKind::broadcast),
              (std::vector{Kind::in, Kind::out, Kind::window, Kind::nranks, Kind::scalar,
                           Kind::context, Kind::generation}));
}

TEST(PtoPreset, RejectsWhatTheSeedsDoNotHave) {
    Collective collective;
    collective.kind = CollectiveKind::gather;
    EXPECT_THROW(preset(collective, 4), Error);
    collective.kind = CollectiveKind::allreduce;
    collective.element = Element::f64;
    EXPECT_THROW(preset(collective, 4), Error);
}

}  // namespace parameters_test
}  // namespace peal::pto
