// SPDX-License-Identifier: Apache-2.0
#include "emit/kernel_text.hpp"

#include <cctype>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "peal/program.hpp"

namespace peal::emit {
namespace {

using ir::VarPtr;

bool uses(const std::string& body, const std::string& name) {
    const auto is_word = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    };
    for (std::size_t at = 0; (at = body.find(name, at)) != std::string::npos; ++at) {
        const std::size_t end = at + name.size();
        const bool begins = at == 0 || !is_word(body[at - 1]);
        const bool ends = end == body.size() || !is_word(body[end]);
        if (begins && ends) return true;
    }
    return false;
}

class Arguments {
public:
    Arguments(const Frame& frame, const FrameNames& names, CppText& text)
        : frame_(frame), names_(names), text_(text) {}

    // Only what the body uses, directly or for the places of windows.
    std::string print(const std::string& body) {
        std::vector<std::string> lines;  // last first: each may need what comes before
        std::string used = body;
        const auto add = [&](const std::string& name, std::string text) {
            if (!uses(used, name)) return;
            used += text;
            lines.push_back(std::move(text));
        };
        add_windows(add);
        for (auto it = frame_.symbols.rbegin(); it != frame_.symbols.rend(); ++it) {
            const std::string name = text_.name(it->var->name);
            const std::string divisor =
                it->divisor ? " / " + text_.factor(it->divisor) : std::string();
            add(name,
                fmt::format("const int64_t {} = Count(args[{}]){};", name, it->argument, divisor));
        }
        add(names_.rank,
            fmt::format("const int64_t {} = {}->rankId;", names_.rank, names_.context));
        add(names_.generation,
            fmt::format("const int64_t {} = args[{}];  // earlier calls on these windows",
                        names_.generation, frame_.generation));
        add(names_.context,
            fmt::format("auto *{} = reinterpret_cast<__gm__ CommContext *>(args[{}]);",
                        names_.context, frame_.context));
        for (auto it = frame_.scalars.rbegin(); it != frame_.scalars.rend(); ++it) {
            const std::string name = text_.name(it->var->name);
            add(name, fmt::format("const int64_t {} = args[{}];", name, it->argument));
        }
        add(names_.nranks,
            fmt::format("const int64_t {} = args[{}];", names_.nranks, frame_.nranks));
        if (!frame_.windows.empty()) add_window(0, add);
        for (auto it = frame_.tensors.rbegin(); it != frame_.tensors.rend(); ++it) {
            const std::string name = text_.name(it->var->name);
            add(name, fmt::format("auto *{} = First<{}>(args[{}]);", name,
                                  cpp_type(it->var->type.element), it->argument));
        }
        std::string result;
        for (auto it = lines.rbegin(); it != lines.rend(); ++it) {
            result += fmt::format("    {}\n", *it);
        }
        return result;
    }

private:
    template <class Add>
    void add_windows(const Add& add) {
        for (std::size_t i = frame_.signals.size(); i-- > 0;) {
            const std::string name = text_.name(frame_.signals[i]->name);
            add(name, fmt::format("auto *{} = {};", name, signal_place(i)));
        }
        for (std::size_t i = frame_.windows.size(); i-- > 1;) add_window(i, add);
    }

    template <class Add>
    void add_window(std::size_t i, const Add& add) {
        const std::string name = text_.name(frame_.windows[i]->name);
        const std::string_view type = cpp_type(frame_.windows[i]->type.element);
        if (i == 0) {
            add(name, fmt::format("auto *{} = First<{}>(args[{}]);", name, type, frame_.scratch));
            return;
        }
        const VarPtr& last = frame_.windows[i - 1];
        add(name, fmt::format("auto *{} = reinterpret_cast<__gm__ {} *>(LineBehind({}, {}));", name,
                              type, text_.name(last->name), text_.expr(count_of(last))));
    }

    std::string signal_place(std::size_t i) {
        if (i > 0) {
            return fmt::format("Cell({}, {})", text_.name(frame_.signals[i - 1]->name),
                               text_.expr(count_of(frame_.signals[i - 1])));
        }
        if (frame_.windows.empty()) return fmt::format("First<int32_t>(args[{}])", frame_.scratch);
        const VarPtr& last = frame_.windows.back();
        const std::string count = frame_.windows.size() == 1
                                      ? fmt::format("Count(args[{}])", frame_.scratch)
                                      : text_.expr(count_of(last));
        return fmt::format("reinterpret_cast<__gm__ int32_t *>(LineBehind({}, {}))",
                           text_.name(last->name), count);
    }

    const Frame& frame_;
    const FrameNames& names_;
    CppText& text_;
};

// What each argument is.
std::vector<std::string> words_for(const Frame& frame) {
    std::vector<std::string> list(static_cast<std::size_t>(frame.arguments()));
    const auto say = [&](int number, const std::string& words) {
        list[static_cast<std::size_t>(number)] =
            fmt::format("args[{}]{}{}", number, words.empty() ? "" : " ", words);
    };
    for (const Frame::Tensor& tensor : frame.tensors) say(tensor.argument, tensor.var->name);
    if (frame.scratch >= 0) {
        std::vector<std::string> parts;
        for (const VarPtr& window : frame.windows) {
            parts.push_back(fmt::format("{}: {}", window->name, text_of(window)));
        }
        for (const VarPtr& signal : frame.signals) {
            parts.push_back(fmt::format("{}: {} rows of {} int32", signal->name,
                                        peal::print(count_of(signal)), kCellsPerRow));
        }
        say(frame.scratch, fmt::format("{}", fmt::join(parts, "; ")));
    }
    say(frame.nranks, "");
    for (const Frame::Scalar& scalar : frame.scalars) say(scalar.argument, scalar.var->name);
    say(frame.context, "");
    say(frame.generation, "how many calls on these windows came before");
    return list;
}

}  // namespace

FrameNames::FrameNames(const Frame& frame, CppText& text) {
    for (const Frame::Tensor& tensor : frame.tensors) text.declare(tensor.var->name);
    for (const VarPtr& window : frame.windows) text.declare(window->name);
    for (const VarPtr& signal : frame.signals) text.declare(signal->name);
    for (const Frame::Scalar& scalar : frame.scalars) text.declare(scalar.var->name);
    for (const Frame::Symbol& symbol : frame.symbols) text.declare(symbol.var->name);
    rank = text.declare("rank");
    nranks = text.declare("nranks");
    context = text.fresh("context");
    generation = text.fresh("generation");
    const bool one = frame.signals.size() == 1;
    for (const VarPtr& signal : frame.signals) {
        text.set_generation(signal->name, text.fresh(one ? "base" : signal->name + "_base"));
    }
}

std::string argument_lines(const Frame& frame, const FrameNames& names, const std::string& body,
                           CppText& text) {
    return Arguments(frame, names, text).print(body);
}

std::string heading_of(const Frame& frame, pto::Device device, const pto::Declared& more) {
    std::string text = fmt::format(
        "// SPDX-License-Identifier: Apache-2.0\n"
        "// Kernel `{}` for {}, emitted by Peal. One kernel for all ranks; its arguments, for "
        "people "
        "and `peal`:\n//\n",
        frame.kernel, name(device));
    const auto say = [&](std::string_view option, std::string_view value, std::string_view words) {
        text += pto::declaration(option, value, words) + "\n";
    };
    const std::vector<std::string> parameters = frame.parameter_texts();
    const std::vector<std::string> words = words_for(frame);
    for (std::size_t i = 0; i < parameters.size(); ++i) say("--arg", parameters[i], words[i]);
    for (const std::string& setting : more.settings) say("--set", setting, "unless said");
    if (!more.as.empty()) say("--as", more.as, "what it computes");
    if (!more.op.empty()) say("--op", more.op, "");
    if (device != pto::Device::a2a3) say("--device", name(device), "whose rules it keeps");
    return text +
           "\n#include <cstdint>\n\n"
           "#include \"platform_comm/comm_context.h\"\n"
           "#include \"pto/comm/comm_types.hpp\"\n"
           "#include \"pto/comm/pto_comm_inst.hpp\"\n"
           "#include \"pto/common/pto_tile.hpp\"\n"
           "#include \"pto/pto-inst.hpp\"\n"
           "#include \"tensor.h\"\n";
}

}  // namespace peal::emit
