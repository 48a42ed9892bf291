// SPDX-License-Identifier: Apache-2.0
// Random programs that are right: every construct of the language, in any combination.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace peal::test {

// Random numbers that are the same on every machine.
class Dice {
public:
    explicit Dice(std::uint64_t seed) : engine_(seed) {}
    std::size_t below(std::size_t limit) { return engine_() % limit; }
    bool chance(std::size_t percent) { return below(100) < percent; }
    template <class T>
    const T& pick(const std::vector<T>& items) {
        return items[below(items.size())];
    }

private:
    std::mt19937_64 engine_;
};

class ProgramWriter {
public:
    explicit ProgramWriter(std::uint64_t seed) : dice_(seed) {}

    std::string program() {
        std::string text;
        const std::size_t kernels = 1 + dice_.below(3);
        for (std::size_t i = 0; i < kernels; ++i) text += kernel(i, i + 1 == kernels) + "\n";
        return text;
    }

private:
    struct Names {
        std::vector<std::string> integers{"n", "m", "rank", "nranks", "lane", "nlanes"};
        std::vector<std::string> tiles;  // of k elements
        std::vector<std::string> own;    // assignable integers
        std::vector<std::string> own_tiles;
    };

    std::string kernel(std::size_t number, bool last) {
        names_ = {};
        next_ = 0;
        text_.clear();
        may_call_ = number > 0 && last ? fmt::format("k{}", number - 1) : "";
        text_ = fmt::format(
            "kernel k{}(inp: f32[n], out: f32[n], data: window f32[n], grid: window f32[nranks, "
            "n],\n"
            "           sig: window i32[nranks], cells: window i64[4, nranks],\n"
            "           counts: index[nranks, nranks], alpha: f32, m: index) {{\n",
            number);
        block(1, 6);
        return text_ + "}\n";
    }

    void line(int depth, const std::string& text) {
        text_ += std::string(static_cast<std::size_t>(depth) * 4, ' ') + text + "\n";
    }

    void block(int depth, std::size_t most) {
        const std::size_t count = 1 + dice_.below(most);
        for (std::size_t i = 0; i < count; ++i) statement(depth);
    }

    std::string fresh(const char* stem) { return fmt::format("{}{}", stem, next_++); }

    void statement(int depth) {
        switch (dice_.below(depth < 4 ? 16 : 10)) {
            case 0: return integer_definition(depth);
            case 1: return tile_definition(depth);
            case 2: return assignment(depth);
            case 3: return line(depth, fmt::format("{} = {}", place(), tile(2)));
            case 4:
                return line(depth, fmt::format("notify sig[{}]@{} {} {}", integer(1), rank(),
                                               dice_.chance(50) ? "=" : "+=", integer(2)));
            case 5:
                return line(depth, fmt::format("wait cells[{}, {}] {} {}", integer(1), integer(1),
                                               comparison(), integer(2)));
            case 6:
                return line(depth, fmt::format("put data@{}[{}; 8] = inp[{}; 8]", rank(),
                                               integer(1), integer(1)));
            case 7:
                return line(depth, fmt::format("get out[{}; 8] = grid@{}[{}][{}; 8]", integer(1),
                                               rank(), integer(1), integer(1)));
            case 8: return depth == 1 ? collective() : assignment(depth);
            case 9: return op(depth);
            case 10:
            case 11: return loop(depth);
            case 12:
            case 13: return condition(depth);
            case 14: return explicit_loop(depth);
            default: return explicit_condition(depth);
        }
    }

    void integer_definition(int depth) {
        const std::string name = fresh("num");
        line(depth, fmt::format("{}{} = {}", dice_.chance(50) ? "let " : "", name, integer(3)));
        names_.integers.push_back(name);
        names_.own.push_back(name);
    }

    void tile_definition(int depth) {
        const std::string name = fresh("t");
        line(depth, fmt::format("{}{} = {}", dice_.chance(50) ? "let " : "", name, tile(3)));
        names_.tiles.push_back(name);
        names_.own_tiles.push_back(name);
    }

    void assignment(int depth) {
        if (dice_.chance(50) && !names_.own_tiles.empty()) {
            line(depth, fmt::format("{} = {}", dice_.pick(names_.own_tiles), tile(2)));
        } else if (!names_.own.empty()) {
            line(depth, fmt::format("{} = {}", dice_.pick(names_.own), integer(2)));
        } else {
            integer_definition(depth);
        }
    }

    void collective() {
        const std::vector<std::string> kForms = {
            "data = allreduce(data, sig, op=max, recipe=ring)",
            "out = allreduce(inp, data, sig)",
            "data = broadcast(data, sig, root=m)",
            "out = all_to_all_v(inp, grid, sig, counts)",
            "out = exscan(inp, data, sig, op=min, recipe=pipeline)",
            "barrier(cells, recipe=dissemination)",
            "advance sig by 2",
            "pld.tensor.allgather(grid, sig, output=out, input=inp)",
        };
        line(1, dice_.pick(kForms));
        if (!may_call_.empty() && dice_.chance(50)) {
            line(1, fmt::format("{}(inp, out, data, grid, sig, cells, counts, {}, {})", may_call_,
                                dice_.chance(50) ? "alpha" : "-1.25", integer(1)));
        }
    }

    void op(int depth) {
        line(depth, fmt::format("tile.store({}, out, {})", tile(1), integer(1)));
        line(depth, fmt::format("pld.system.notify(cells, {}, {}, generation(cells) + {}, op=set)",
                                integer(1), integer(1), integer(1)));
    }

    void loop(int depth) {
        const Names outer = names_;
        if (dice_.chance(40)) {
            const std::string counter = fresh("p");
            line(depth, fmt::format("for {} in peers {{", counter));
            names_.integers.push_back(counter);
        } else {
            // Sibling loops share names.
            const std::string counter = fmt::format("c{}", depth);
            line(depth, fmt::format("for {} in {}..{} {{", counter, integer(1), integer(2)));
            names_.integers.push_back(counter);
        }
        block(depth + 1, 3);
        line(depth, "}");
        names_ = outer;
    }

    void condition(int depth) {
        const Names outer = names_;
        line(depth, fmt::format("if {} {{", boolean(2)));
        block(depth + 1, 3);
        names_ = outer;
        while (dice_.chance(30)) {
            line(depth, fmt::format("}} else if {} {{", boolean(1)));
            block(depth + 1, 2);
            names_ = outer;
        }
        if (dice_.chance(50)) {
            line(depth, "} else {");
            block(depth + 1, 3);
            names_ = outer;
        }
        line(depth, "}");
    }

    void explicit_loop(int depth) {
        const std::string a = fresh("x"), b = fresh("y"), c = fresh("q"), p = fresh("w"),
                          q = fresh("v");
        line(depth, fmt::format("let ({}, {}) = for {} in 0..{} carry {} = {}, {} = {} {{", a, b, c,
                                integer(1), p, integer(1), q, tile(1)));
        const Names outer = names_;
        names_.integers.insert(names_.integers.end(), {c, p});
        names_.tiles.push_back(q);
        block(depth + 1, 2);
        line(depth + 1, fmt::format("yield {}, {}", integer(2), tile(1)));
        line(depth, "}");
        names_ = outer;
        names_.integers.push_back(a);
        names_.own.push_back(a);
        names_.tiles.push_back(b);
    }

    void explicit_condition(int depth) {
        const std::string name = fresh("z");
        const Names outer = names_;
        line(depth, fmt::format("let {} = if {} {{", name, boolean(2)));
        block(depth + 1, 2);
        line(depth + 1, fmt::format("yield {}", integer(2)));
        names_ = outer;
        if (dice_.chance(30)) {
            line(depth, fmt::format("}} else if {} {{", boolean(1)));
            line(depth + 1, fmt::format("yield {}", integer(1)));
        }
        line(depth, "} else {");
        line(depth + 1, fmt::format("yield {}", integer(1)));
        line(depth, "}");
        names_.integers.push_back(name);
    }

    std::string rank() {
        return dice_.chance(50) ? std::to_string(dice_.below(4)) : fmt::format("({})", integer(1));
    }

    std::string comparison() {
        return dice_.pick(std::vector<std::string>{"==", "!=", "<", "<=", ">", ">="});
    }

    std::string integer(int depth) {
        if (depth == 0 || dice_.chance(30)) {
            if (dice_.chance(60)) return dice_.pick(names_.integers);
            return std::to_string(static_cast<std::int64_t>(dice_.below(20)) - 5);
        }
        const std::string a = integer(depth - 1);
        switch (dice_.below(9)) {
            case 0: return fmt::format("-({})", a);
            case 1: return fmt::format("log2({})", a);
            case 2:
                return fmt::format("{}({}, {})", dice_.chance(50) ? "min" : "max", a,
                                   integer(depth - 1));
            case 3: return fmt::format("counts[{}, {}]", a, integer(depth - 1));
            case 4: {
                const std::string counter = fresh("k");
                const std::string range = integer(depth - 1);
                names_.integers.push_back(counter);
                const std::string body = integer(depth - 1);
                std::erase(names_.integers, counter);
                return fmt::format("{}({} in {}..{}, {})", dice_.chance(50) ? "sum" : "max",
                                   counter, a, range, body);
            }
            default: {
                const std::string op = dice_.pick(
                    std::vector<std::string>{"+", "-", "*", "/", "%", "<<", ">>", "xor"});
                const std::string b = integer(depth - 1);
                return dice_.chance(50) ? fmt::format("({} {} {})", a, op, b)
                                        : fmt::format("{} {} ({})", a, op, b);
            }
        }
    }

    std::string boolean(int depth) {
        if (depth == 0 || dice_.chance(40)) {
            return fmt::format("({} {} {})", integer(1), comparison(), integer(1));
        }
        if (dice_.chance(25)) return fmt::format("not {}", boolean(depth - 1));
        return fmt::format("({} {} {})", boolean(depth - 1), dice_.chance(50) ? "and" : "or",
                           boolean(depth - 1));
    }

    // A place of eight elements.
    std::string place() {
        switch (dice_.below(4)) {
            case 0: return fmt::format("out[{}; 8]", integer(1));
            case 1: return fmt::format("data@{}[{}; 8]", rank(), integer(1));
            case 2: return fmt::format("grid[{}][{}; 8]", integer(1), integer(1));
            default:
                return fmt::format("grid[{}]@{}[{}; 16][2; 8]", integer(1), rank(), integer(1));
        }
    }

    // A tile of eight elements.
    std::string tile(int depth) {
        if (depth == 0 || dice_.chance(40)) {
            if (!names_.tiles.empty() && dice_.chance(60)) return dice_.pick(names_.tiles);
            return dice_.chance(80) ? place() : "tile.full(0.5, 8)";
        }
        const std::string a = tile(depth - 1);
        switch (dice_.below(5)) {
            case 0:
                return fmt::format("{}({}, {})", dice_.chance(50) ? "min" : "max", a,
                                   tile(depth - 1));
            case 1: return fmt::format("({} * {})", a, dice_.chance(50) ? "alpha" : "-2.5e-3");
            case 2: return fmt::format("(({}) + {})", integer(1), a);
            case 3: return fmt::format("({})[0; 8]", a);
            default:
                return fmt::format("({} {} {})", a, dice_.chance(50) ? "+" : "*", tile(depth - 1));
        }
    }

    Dice dice_;
    Names names_;
    std::string text_;
    std::string may_call_;
    int next_ = 0;
};

}  // namespace peal::test
