// SPDX-License-Identifier: Apache-2.0
#include "emit/phases.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "emit/generations.hpp"
#include "emit/kernel_text.hpp"
#include "emit/lives.hpp"
#include "ir/fields.hpp"
#include "passes/rewrite.hpp"
#include "peal/ops.hpp"
#include "peal/program.hpp"

namespace peal::emit {
namespace {

using namespace ir;  // NOLINT: reads the IR

std::string cpp(Pipe pipe) { return fmt::format("PIPE_{}", name(pipe)); }

std::string_view cpp(Compare compare) {
    switch (compare) {
        case Compare::eq: return "EQ";
        case Compare::ne: return "NE";
        case Compare::gt: return "GT";
        case Compare::ge: return "GE";
        case Compare::lt: return "LT";
        case Compare::le: return "LE";
    }
    return "";
}

bool mentions_tile(const Step& step, TileId tile) {
    bool found = false;
    for_each_within(step, [&](const Step& each) {
        const TileUse use = use_of(each);
        found = found || std::count(use.reads.begin(), use.reads.end(), tile) > 0 ||
                std::count(use.writes.begin(), use.writes.end(), tile) > 0;
    });
    return found;
}

bool mentions_tile(const Steps& steps, TileId tile) {
    return std::any_of(steps.begin(), steps.end(),
                       [&](const Step& step) { return mentions_tile(step, tile); });
}

class Printer {
public:
    Printer(const DeviceProgram& program, const Frame& frame, const Facts& facts,
            const Trouble& trouble)
        : program_(program),
          frame_(frame),
          trouble_(trouble),
          text_(facts, trouble),
          names_(frame, text_),
          at_(text_.fresh("at")),
          count_(text_.fresh("count")),
          turn_(text_.fresh("turn")),
          tile_names_(program.tiles.size()) {}

    std::string print() {
        count_outlines();
        print_steps(program_.steps);
        const std::string body = std::exchange(out_, {});
        const std::string arguments = argument_lines(frame_, names_, body, text_);
        const std::string check = print_check();
        const std::string entry = fmt::format(
            "extern \"C\" __aicore__ void kernel_entry(__gm__ int64_t *args) {{\n{}{}\n{}}}\n",
            check.empty() ? "" : "    if (kernel_check(args) != 0) return;\n", arguments, body);
        std::string functions;
        for (const Outline& outline : outlines_) {
            if (outline.times > 1) functions += outline.definition() + "\n";
        }
        return fmt::format("\n{}{}{}", helpers_for(check + arguments + body, functions, program_),
                           check, entry);
    }

private:
    // ------------------------------------------------------------------------ chunks as functions

    // A loop over chunks that has nothing of the kernel but memory and a length: written more than
    // once, it is a function.
    struct Outline {
        std::string name, parameters, body;
        int times = 0;

        std::string definition() const {
            return fmt::format(
                "// Chunk by chunk, with two places in tile memory in turn.\n"
                "AICORE inline void {}({}) {{\n{}}}\n",
                name, parameters, body);
        }
    };

    static bool is_plain(const Loop& loop) {
        return loop.chunks &&
               std::all_of(loop.body.begin(), loop.body.end(), [&](const Step& step) {
                   const auto* compute = std::get_if<Compute>(&step.what);
                   const auto* flag = std::get_if<Flag>(&step.what);
                   const bool is_own =
                       flag && (flag->event.turns == kNoLoop || flag->event.turns == loop.id);
                   return (compute && !compute->scalar) || is_own ||
                          std::holds_alternative<LoadTile>(step.what) ||
                          std::holds_alternative<StoreTile>(step.what);
               });
    }

    // The memory of a plain loop, stores first.
    static std::vector<const MemoryRef*> refs_of(const Loop& loop) {
        std::vector<const MemoryRef*> refs;
        for (const Step& step : loop.body) {
            if (const auto* store = std::get_if<StoreTile>(&step.what)) refs.push_back(&store->to);
        }
        for (const Step& step : loop.body) {
            if (const auto* load = std::get_if<LoadTile>(&step.what)) refs.push_back(&load->from);
        }
        return refs;
    }

    // As a function's, in names of its own.
    Outline outlined(const Loop& loop) const {
        Printer inner(program_, frame_, text_.facts(), trouble_);
        Outline outline;
        for (const MemoryRef* ref : refs_of(loop)) {
            const bool is_first = inner.parameters_.empty();
            const std::string name = inner.text_.fresh(is_first ? "to" : "from");
            inner.parameters_[ref] = name;
            outline.parameters +=
                fmt::format("__gm__ {} *{}, ", cpp_type(ref->memory->type.element), name);
        }
        inner.size_ = inner.text_.fresh("size");
        outline.parameters += "int64_t " + inner.size_;
        inner.print_chunks(loop);
        --inner.indent_;
        inner.line("}}");
        outline.body = std::move(inner.out_);
        return outline;
    }

    Outline* known_outline(const Loop& loop) {
        const Outline wanted = outlined(loop);
        const auto found =
            std::find_if(outlines_.begin(), outlines_.end(), [&](const Outline& each) {
                return each.parameters == wanted.parameters && each.body == wanted.body;
            });
        if (found != outlines_.end()) return &*found;
        outlines_.push_back(wanted);
        const bool computes = std::any_of(loop.body.begin(), loop.body.end(), [](const Step& step) {
            return std::holds_alternative<Compute>(step.what);
        });
        outlines_.back().name = text_.fresh(computes ? "CombineChunks" : "CopyChunks");
        return &outlines_.back();
    }

    void count_outlines() {
        for_each_step(program_.steps, [&](const Step& step) {
            const auto* loop = std::get_if<Loop>(&step.what);
            if (loop && is_plain(*loop)) ++known_outline(*loop)->times;
        });
    }

    // Whether the loop is a call.
    bool print_as_call(const Loop& loop) {
        if (!is_plain(loop)) return false;
        const Outline* outline = known_outline(loop);
        if (outline->times < 2) return false;
        std::vector<std::string> arguments;
        for (const MemoryRef* ref : refs_of(loop)) arguments.push_back(pointer(*ref));
        line("{}({}, {});", outline->name, fmt::join(arguments, ", "), text_.expr(loop.chunks));
        return true;
    }

    // ------------------------------------------------------------------------ lines

    template <class... Args>
    void line(fmt::format_string<Args...> format, Args&&... args) {
        out_.append(static_cast<std::size_t>(indent_) * 4, ' ');
        out_ += fmt::format(format, std::forward<Args>(args)...);
        out_ += '\n';
    }

    // An empty line between phases.
    void gap() {
        if (!out_.empty()) out_ += '\n';
    }

    void comment(const std::string& sentence) {
        if (!sentence.empty()) line("// {}", sentence);
    }

    // ------------------------------------------------------------------------ requirements

    // Empty if there are none.
    std::string print_check() {
        if (program_.requirements.empty()) return {};
        int code = 0;
        for (const Requirement& each : program_.requirements) {
            const std::string wanted =
                fmt::format("{} {} {}", text_.comparand(each.left), symbol(each.compare),
                            text_.comparand(each.right));
            std::vector<std::string> conditions;
            for (const ExprPtr& when : each.when) {
                conditions.push_back(fmt::format("({}) && ", text_.expr(when)));
            }
            line("if ({}!({})) return {};", fmt::join(conditions, ""), wanted, ++code);
        }
        line("return 0;");
        const std::string body = std::exchange(out_, {});
        return fmt::format(
            "// Ask before a call: 0, or the number of what does not hold. Then a call does "
            "nothing.\n"
            "extern \"C\" __aicore__ int32_t kernel_check(__gm__ int64_t *args) {{\n{}{}}}\n\n",
            argument_lines(frame_, names_, body, text_), body);
    }

    // ------------------------------------------------------------------------ names

    const std::string& turn_of(LoopId loop) const { return rounds_.at(loop).turn; }

    std::string event(const Event& event) const {
        if (event.turns == kNoLoop) return fmt::format("EVENT_ID{}", event.number);
        if (event.number == 0) return fmt::format("Event({})", turn_of(event.turns));
        return fmt::format("Event({} + {})", event.number, turn_of(event.turns));
    }

    // ------------------------------------------------------------------------ blocks

    void print_steps(const Steps& steps) {
        for (std::size_t i = 0; i < steps.size(); ++i) {
            if (is_silent(steps[i])) continue;
            if (indent_ == 1) {
                if (i > 0 && begins_phase(steps[i - 1], steps[i])) gap();
                define_generations(steps[i]);
            }
            declare_tiles(steps, i);
            std::visit([&](const auto& what) { print_one(what); }, steps[i].what);
        }
    }

    static bool is_block(const Step& step) {
        return std::holds_alternative<Loop>(step.what) || std::holds_alternative<Branch>(step.what);
    }

    bool is_silent(const Step& step) const {
        const auto* advance = std::get_if<AdvanceGeneration>(&step.what);
        return advance && !moving_.contains(advance->signal->name);
    }

    static bool begins_phase(const Step& before, const Step& step) {
        const bool after_sync = std::holds_alternative<NotifyCell>(before.what) ||
                                std::holds_alternative<WaitForCell>(before.what);
        return is_block(before) || (after_sync && is_block(step));
    }

    // Tiles that first appear here and are used in more than one place of this block.
    void declare_tiles(const Steps& steps, std::size_t i) {
        for (std::size_t id = 0; id < program_.tiles.size(); ++id) {
            const auto tile = static_cast<TileId>(id);
            if (!tile_names_[id].empty() || !mentions_tile(steps[i], tile)) continue;
            if (!works_on_tiles(steps[i]) && !is_shared(steps, i, tile)) continue;
            const TileVariable& variable = program_.tiles[id];
            tile_names_[id] =
                parameters_.empty() ? text_.declare(variable.name) : text_.fresh("tile");
            std::string slot = std::to_string(variable.slot);
            if (variable.takes_turns) {
                const std::string turn = turn_of(variable.home);
                slot = variable.slot == 0 ? turn : fmt::format("{} + {}", variable.slot, turn);
            }
            line("auto {} = TileAt<{}>({}, {});", tile_names_[id], tile_type(variable.element),
                 slot, count_text(tile));
        }
    }

    static bool is_shared(const Steps& steps, std::size_t i, TileId tile) {
        const auto* branch = std::get_if<Branch>(&steps[i].what);
        if (branch && mentions_tile(branch->then_steps, tile) &&
            mentions_tile(branch->else_steps, tile)) {
            return true;
        }
        return std::any_of(steps.begin() + static_cast<std::ptrdiff_t>(i) + 1, steps.end(),
                           [&](const Step& step) { return mentions_tile(step, tile); });
    }

    std::string count_text(TileId tile) {
        const ExprPtr& count = program_.tiles[static_cast<std::size_t>(tile)].count;
        return count ? text_.expr(count) : count_;
    }
    const std::string& name_of(TileId tile) const {
        return tile_names_[static_cast<std::size_t>(tile)];
    }

    // ------------------------------------------------------------------------ scalars

    std::string_view scalar_type(const VarPtr& var) const {
        if (var->type.kind == Type::Kind::boolean) return "bool";
        return var->type.is_integer() ? "int64_t" : "float";
    }

    void print_one(const Define& step) {
        const std::string value = step.value ? " = " + text_.expr(step.value) : std::string();
        defined_.insert(step.var->name);
        line("{}{} {}{};", step.is_constant ? "const " : "", scalar_type(step.var),
             text_.declare(step.var->name), value);
    }
    void print_one(const Assign& step) {
        line("{} = {};", text_.name(step.var->name), text_.expr(step.value));
    }

    // ------------------------------------------------------------------------ generations

    // Before its first use: generation * what a call advances it by.
    void define_generations(const Step& step) {
        for (const VarPtr& signal : frame_.signals) {
            if (has_generation_.contains(signal->name) || !uses_generation(step, signal->name))
                continue;
            has_generation_.insert(signal->name);
            const std::string advance =
                total_advance(program_.steps, signal->name, text_,
                              [&](const ExprPtr& expr) { return known_here(expr); });
            const bool plain = advance.find(' ') == std::string::npos;
            std::string value =
                names_.generation + (plain ? " * " + advance : " * (" + advance + ")");
            if (advance == "1") value = names_.generation;
            if (advance.empty()) value = "0";
            const bool moves = moves_on(program_.steps, signal->name);
            if (moves) moving_.insert(signal->name);
            line("{}int64_t {} = {};", moves ? "" : "const ", text_.generation(signal->name),
                 value);
        }
    }

    // With the definitions of names that come later in their place.
    ExprPtr known_here(const ExprPtr& expr) const {
        return passes::rewrite_expr(expr, [&](const ExprPtr& each) {
            const auto* var = as<Var>(each);
            if (!var || defined_.contains(var->name)) return each;
            const ExprPtr definition = text_.facts().definition(var->name);
            return definition ? known_here(definition) : each;
        });
    }

    void print_one(const AdvanceGeneration& step) {
        line("{} += {};", text_.generation(step.signal->name), text_.expr(step.by));
    }

    // ------------------------------------------------------------------------ tiles

    std::string pointer(const MemoryRef& ref) {
        if (const auto found = parameters_.find(&ref); found != parameters_.end()) {
            return fmt::format("{} + {}", found->second, at_);
        }
        std::string text = text_.name(ref.memory->name);
        const auto* constant = as<IntConst>(ref.offset);
        if (!constant || constant->value != 0) text += " + " + text_.term_of_sum(ref.offset);
        if (in_chunks_) text += " + " + at_;
        if (!ref.peer) return text;
        return fmt::format("Remote({}, {}, {})", names_.context, text, text_.expr(ref.peer));
    }

    std::string row(const MemoryRef& ref, TileId tile, std::string_view role) {
        const std::string row = text_.fresh(fmt::format("{}_{}", name_of(tile), role));
        line("auto {} = RowOf({}, {});", row, pointer(ref), count_text(tile));
        return row;
    }

    void print_one(const LoadTile& step) {
        const std::string from = row(step.from, step.tile, "from");
        line("TLOAD({}, {});", name_of(step.tile), from);
    }
    void print_one(const StoreTile& step) {
        const std::string to = row(step.to, step.tile, "to");
        line("TSTORE({}, {});", to, name_of(step.tile));
    }
    void print_one(const Compute& step) {
        std::vector<std::string> operands = {name_of(step.dst)};
        for (const TileId source : step.src) operands.push_back(name_of(source));
        const TileVariable& dst = program_.tiles[static_cast<std::size_t>(step.dst)];
        if (step.scalar) operands.push_back(text_.number(step.scalar, dst.element));
        line("{}({});", step.instruction, fmt::join(operands, ", "));
    }

    // ------------------------------------------------------------------------ syncs

    std::string cell(const VarPtr& signal, const ExprPtr& index) {
        return fmt::format("Cell({}, {})", text_.name(signal->name), text_.expr(index));
    }
    void print_one(const NotifyCell& step) {
        const std::string name = text_.fresh("cell");
        line("Signal {}(Remote({}, {}, {}));", name, names_.context, cell(step.signal, step.cell),
             text_.expr(step.peer));
        line("TNOTIFY({}, {}, NotifyOp::{});", name, text_.expr(step.value),
             step.op == NotifyOp::set ? "Set" : "AtomicAdd");
    }
    void print_one(const WaitForCell& step) {
        const std::string name = text_.fresh("cell");
        line("Signal {}({});", name, cell(step.signal, step.cell));
        line("TWAIT({}, {}, WaitCmp::{});", name, text_.expr(step.value), cpp(step.compare));
    }

    void print_one(const Flag& step) {
        const std::string operands =
            fmt::format("{}, {}, {}", cpp(step.from), cpp(step.to), event(step.event));
        switch (step.kind) {
            case Flag::Kind::set_and_wait:
                line("set_flag({});", operands);
                return line("wait_flag({});{}", operands,
                            step.to == Pipe::scalar ? "  // done before anyone is told" : "");
            case Flag::Kind::wait_for_last_turn:
                return line("if ({}) wait_flag({});", rounds_.at(step.event.turns).has_last,
                            operands);
            case Flag::Kind::set_for_next_turn:
                return line("if ({}) set_flag({});", rounds_.at(step.event.turns).has_next,
                            operands);
        }
    }
    void print_one(const DrainAll&) { line("pipe_barrier(PIPE_ALL);"); }
    void print_one(const FenceAll&) { line("dsb(DSB_DDR);"); }

    // ------------------------------------------------------------------------ control flow

    void print_one(const Loop& loop) {
        comment(describe(loop));
        if (print_as_call(loop)) return;
        text_.open_block();
        if (loop.chunks) {
            print_chunks(loop);
        } else {
            const std::string counter = text_.declare(loop.counter->name);
            line("for (int64_t {0} = {1}; {0} < {2}; ++{0}) {{", counter, text_.expr(loop.lo),
                 text_.comparand(loop.hi));
            ++indent_;
            if (loop.turns) print_turn(loop, counter);
            print_steps(loop.body);
        }
        text_.close_block();
        --indent_;
        line("}}");
    }

    // Which slots it is the turn of; rounds of the same turn are two apart.
    void print_turn(const Loop& loop, const std::string& counter) {
        const std::string turn = text_.fresh(counter + "_turn");
        const auto* first = as<IntConst>(loop.lo);
        const std::string third =
            first ? std::to_string(first->value + 2) : text_.term_of_sum(loop.lo) + " + 2";
        const bool natural = text_.facts().not_negative(loop.lo);
        line("const int {} = {} % 2;", turn,
             natural ? counter : fmt::format("({} - {})", counter, text_.factor(loop.lo)));
        rounds_[loop.id] = {turn, fmt::format("{} >= {}", counter, third),
                            fmt::format("{} + 2 < {}", counter, text_.comparand(loop.hi))};
    }

    void print_chunks(const Loop& loop) {
        const std::string size = size_.empty() ? text_.expr(loop.chunks) : size_;
        line("for (int64_t {0} = 0; {0} < {1}; {0} += kChunk) {{", at_, size);
        ++indent_;
        line("const int64_t {} = Min(kChunk, {} - {});", count_, size, at_);
        if (loop.turns) {
            line("const int {} = {} / kChunk % 2;", turn_, at_);
            rounds_[loop.id] = {turn_, fmt::format("{} >= 2 * kChunk", at_),
                                fmt::format("{} + 2 * kChunk < {}", at_, size)};
        }
        in_chunks_ = true;
        print_steps(loop.body);
        in_chunks_ = false;
    }

    void print_one(const Branch& branch) {
        line("if ({}) {{", text_.expr(branch.condition));
        const Facts& outside = text_.facts();
        const Facts inside = outside.assuming(branch.condition);
        text_.know(inside);
        print_block(branch.then_steps);
        text_.know(outside);
        if (!branch.else_steps.empty()) {
            line("}} else {{");
            print_block(branch.else_steps);
        }
        line("}}");
    }

    void print_block(const Steps& steps) {
        text_.open_block();
        ++indent_;
        print_steps(steps);
        --indent_;
        text_.close_block();
    }

    const DeviceProgram& program_;
    const Frame& frame_;
    const Trouble& trouble_;
    CppText text_;
    std::string out_;
    int indent_ = 1;
    bool in_chunks_ = false;
    FrameNames names_;
    std::string at_, count_, turn_;
    std::vector<std::string> tile_names_;
    struct Rounds {
        std::string turn, has_last, has_next;
    };
    std::map<LoopId, Rounds> rounds_;
    std::set<std::string, std::less<>> defined_, has_generation_, moving_;
    std::vector<Outline> outlines_;
    // Of a loop that is printed as a function.
    std::map<const MemoryRef*, std::string> parameters_;
    std::string size_;
};

}  // namespace

std::string print_kernel(const DeviceProgram& program, const Frame& frame, const Facts& facts,
                         const Trouble& trouble) {
    return Printer(program, frame, facts, trouble).print();
}

}  // namespace peal::emit
