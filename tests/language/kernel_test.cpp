// SPDX-License-Identifier: Apache-2.0
// Kernels, parameters, types, and whole files.
#include <cstdio>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "language/support.hpp"
#include "peal/error.hpp"

namespace peal {
namespace kernel_test {

using test::parse_text;

TEST(Kernel, ParametersPrintAsTheyAreWritten) {
    const std::string text =
        "kernel k(a: f32[n], b: in f16[n, 4], c: out bf16[n * 2], d: inout f64[nranks]) {\n"
        "}\n"
        "\n"
        "kernel l(e: window i8[n], f: inout window i16[n], g: i32, h: i64, i: u8, j: index) {\n"
        "}\n"
        "\n"
        "kernel m(t: index[nranks, nranks], x: f32[max(i in 0..nranks, t[i, rank])]) {\n"
        "}\n";
    const ir::Program program = parse_text(text);
    test::expect_round_trip(program);
    std::string expected = text;
    expected.replace(expected.find("h: i64"), 6, "h: index");  // an index is an i64
    EXPECT_EQ(print(program), expected);
}

TEST(Kernel, TypesAreWhatTheySay) {
    const ir::Program program = parse_text(
        "kernel k(a: f32[n], w: inout window i32[n, 4], s: f16, i: index, t: index[2]) {\n}\n");
    const ir::Kernel& kernel = program.kernels[0];
    EXPECT_EQ(kernel.find("a")->var->type.kind, ir::Type::Kind::tensor);
    EXPECT_EQ(kernel.find("a")->direction, Direction::unknown);
    EXPECT_EQ(kernel.find("w")->var->type.kind, ir::Type::Kind::window);
    EXPECT_EQ(kernel.find("w")->direction, Direction::inout);
    EXPECT_EQ(kernel.find("w")->var->type.shape.size(), 2U);
    EXPECT_EQ(kernel.find("s")->var->type.kind, ir::Type::Kind::scalar);
    EXPECT_EQ(kernel.find("s")->var->type.element, Element::f16);
    EXPECT_TRUE(kernel.find("i")->var->type.is_integer());
    EXPECT_EQ(kernel.find("t")->var->type.kind, ir::Type::Kind::table);
}

TEST(Kernel, ShapesMayUseScalarsThatComeLater) {
    const ir::Program program =
        parse_text("kernel k(a: f32[n * m], m: index) {\n    x = n + m\n}\n");
    test::expect_round_trip(program);
    const std::vector<ir::VarPtr> symbols = ir::symbols_of(program.kernels[0]);
    ASSERT_EQ(symbols.size(), 1U);
    EXPECT_EQ(symbols[0]->name, "n");
}

TEST(Kernel, ShapesMayHaveAnyIntegerExpression) {
    const std::string text =
        "kernel k(a: f32[2, 3 << log2(p), -(-q)], b: f32[sum(i in 0..r, i * s)]) {\n}\n";
    const ir::Program program = parse_text(text);
    test::expect_round_trip(program);
    std::string symbols;
    for (const ir::VarPtr& symbol : ir::symbols_of(program.kernels[0])) symbols += symbol->name;
    EXPECT_EQ(symbols, "pqrs");
}

TEST(Kernel, LongHeadersPutOneParameterOnALine) {
    const ir::Program program = parse_text(
        "kernel a_long_name(first_parameter: in f32[number_of_elements], "
        "second_parameter: out f32[number_of_elements]) {\n}\n");
    EXPECT_EQ(print(program),
              "kernel a_long_name(first_parameter: in f32[number_of_elements],\n"
              "                   second_parameter: out f32[number_of_elements]) {\n"
              "}\n");
    test::expect_round_trip(program);
}

TEST(Kernel, AnEmptyTextIsAnEmptyProgram) {
    EXPECT_TRUE(parse_text("").kernels.empty());
    EXPECT_TRUE(parse_text("# nothing but a comment").kernels.empty());
    EXPECT_EQ(print(ir::Program{}), "");
}

TEST(Kernel, ATrailingCommaIsFine) {
    EXPECT_EQ(print(parse_text("kernel k(a: f32,) {\n    x = tile.full(a, 4,)\n}\n")),
              "kernel k(a: f32) {\n    let x = tile.full(a, 4, element=f32)\n}\n");
}

TEST(Print, TypesThatTextCannotName) {
    EXPECT_EQ(print(ir::tile_type(Element::f32, ir::integer(4))), "tile f32[4]");
    EXPECT_EQ(print(ir::boolean_type()), "boolean");
    EXPECT_EQ(print(ir::index_type()), "index");
    EXPECT_EQ(print(ir::Type{}), "none");
    EXPECT_EQ(print(ir::Type{ir::Type::Kind::context, Element::i64, {}}), "context");
}

TEST(ParseFile, ReadsAFile) {
    const std::string path = ::testing::TempDir() + "/peal_parse_file_test.peal";
    std::ofstream(path) << "kernel k() {\n}\n";
    const ir::Program program = parse_file(path);
    EXPECT_EQ(program.source->name(), path);
    EXPECT_EQ(program.kernels.size(), 1U);
    std::remove(path.c_str());
}

TEST(ParseFile, SaysWhichFileIsMissing) {
    try {
        parse_file("no/such/file.peal");
        FAIL() << "parsed a file that does not exist";
    } catch (const Error& error) {
        EXPECT_EQ(error.fault(), Fault::usage);
        EXPECT_STREQ(error.what(), "cannot read 'no/such/file.peal': No such file or directory");
    }
}

}  // namespace kernel_test
}  // namespace peal
