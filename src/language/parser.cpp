// SPDX-License-Identifier: Apache-2.0
#include "language/parser.hpp"

#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "language/names.hpp"

namespace peal::language {
namespace {

using namespace syntax;

std::vector<std::string_view> element_names() {
    std::vector<std::string_view> names;
    for (const Element element : kElements) names.push_back(name(element));
    return names;
}

}  // namespace

void Parser::check_depth(int depth, const Span& span) {
    if (depth <= kMaxNesting) return;
    report_.error(span, fmt::format("nested deeper than {} levels", kMaxNesting));
    throw TooDeep{};
}

File Parser::file() {
    File file;
    try {
        while (!cursor_.at_end()) {
            file.kernels.push_back(kernel());
            // Braces that an error left unbalanced are no news.
            if (file.kernels.back().broken) skip_to_kernel();
        }
    } catch (const TooDeep&) {
    }
    return file;
}

Kernel Parser::kernel() {
    broken_ = false;
    const std::size_t started = cursor_.position();
    Kernel kernel;
    try {
        cursor_.expect("kernel", "a program is a list of kernels: kernel name(parameters) { ... }");
        kernel.name = cursor_.expect_name("the name of the kernel");
        kernel.params = params();
        kernel.body = block();
    } catch (const Abandoned&) {
        broken_ = true;
    }
    kernel.broken = broken_;
    kernel.words = cursor_.words_since(started);
    return kernel;
}

std::vector<Param> Parser::params() {
    std::vector<Param> params;
    cursor_.expect("(");
    while (!cursor_.at(")")) {
        params.push_back(param());
        if (!cursor_.accept(",") && !cursor_.at(")")) cursor_.fail_expected("',' or ')'");
    }
    cursor_.expect(")");
    return params;
}

// NAME ':' [in|out|inout] [window] ELEMENT ['[' shape ']']  |  NAME ':' index ['[' shape ']']
Param Parser::param() {
    Param param;
    param.name = cursor_.expect_name("the name of a parameter");
    cursor_.expect(":", "a parameter is written name: type, as in data: window f32[n]");
    for (const Direction direction : {Direction::in, Direction::out, Direction::inout}) {
        if (cursor_.accept(name(direction))) {
            param.direction = direction;
            break;
        }
    }
    param_type(param);
    if (cursor_.accept("[")) {
        param.shape = expr_list();
        cursor_.expect("]");
    }
    param.span = join(param.name.span, cursor_.last_span());
    return param;
}

void Parser::param_type(Param& param) {
    param.window = cursor_.accept("window");
    if (!param.window && cursor_.accept("index")) {
        param.index = true;
        return;
    }
    param.element = element();
}

Element Parser::element() {
    const Token& token = cursor_.peek();
    if (token.kind == Token::Kind::word) {
        if (const auto element = element_from(token.text)) {
            cursor_.take();
            return *element;
        }
    }
    if (token.is("in") || token.is("out") || token.is("inout")) {
        cursor_.fail_expected("an element type", "the direction stands before 'window'");
    }
    std::string hint = did_you_mean(token.text, element_names());
    if (hint.empty()) hint = fmt::format("element types are {}", fmt::join(element_names(), ", "));
    cursor_.fail_expected("an element type", std::move(hint));
}

Block Parser::block() {
    const Nested nested(*this);
    Block block;
    cursor_.expect("{", cursor_.at("=") ? "a comparison is written '=='" : "");
    while (!cursor_.at("}") && !cursor_.at("kernel") && !cursor_.at_end()) {
        statement_or_recover(block);
    }
    const Span end = cursor_.expect("}").span;
    if (block.yields.empty()) block.end = end;
    return block;
}

void Parser::yields(Block& block) {
    const Span start = cursor_.take().span;
    block.yields = expr_list();
    block.end = join(start, cursor_.last_span());
    if (!cursor_.at("}")) cursor_.fail_expected("'}'", "'yield' ends its block");
}

void Parser::statement_or_recover(Block& block) {
    const std::size_t started = cursor_.position();
    try {
        if (cursor_.at("yield")) return yields(block);
        block.stmts.push_back(statement());
    } catch (const Abandoned&) {
        broken_ = true;
        skip_to_statement(started);
    }
}

void Parser::skip_to_kernel() {
    while (!cursor_.at("kernel") && !cursor_.at_end()) cursor_.take();
}

// The next statement begins a line, outside of braces that were opened meanwhile.
void Parser::skip_to_statement(std::size_t started) {
    int open = 0;
    while (!cursor_.at_end() && !cursor_.at("kernel")) {
        const Token& token = cursor_.peek();
        const bool begins_line = token.first_on_line && token.kind == Token::Kind::word;
        if (open == 0 && begins_line && cursor_.position() > started) return;
        if (token.is("}") && open-- == 0) return;
        if (token.is("{")) ++open;
        cursor_.take();
    }
}

}  // namespace peal::language
