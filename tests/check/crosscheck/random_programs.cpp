// SPDX-License-Identifier: Apache-2.0
#include "check/crosscheck/random_programs.hpp"

namespace peal::test {

std::vector<CheckStage> RandomProgram::list() const {
    std::vector<CheckStage> list;
    for (const RandomStage& stage : stages) {
        list.push_back({&stage.plans, stage.has_meaning ? &stage.meaning : nullptr, stage.memory,
                        stage.holds});
    }
    return list;
}

namespace {

std::string text_of(const Meaning& meaning, const Plan& plan) {
    std::string text = "meaning:";
    if (meaning.in_order) text += " in order";
    if (meaning.same_bits) text += meaning.commutes ? " same bits, commutes" : " same bits";
    if (meaning.meets) text += " meets";
    for (const Staged& staged : meaning.staged) {
        text += "\n  staged " + plan.buffers[staged.buffer].name + "@" +
                std::to_string(staged.rank) + "[" + std::to_string(staged.offset) + " +" +
                std::to_string(staged.length) + ")";
    }
    for (const Expected& output : meaning.outputs) {
        text += "\n  " + plan.buffers[output.buffer].name + "@" + std::to_string(output.rank) +
                "[" + std::to_string(output.offset) + " +" + std::to_string(output.length) +
                ") = " + std::string(name(output.op)) + " " + std::string(name(output.element)) +
                (output.reduces ? " reduced" : "") + " of";
        for (const Contribution& from : *output.of) {
            text += " " + plan.buffers[from.buffer].name + "@" + std::to_string(from.rank) + "+" +
                    std::to_string(from.offset);
        }
    }
    return text + "\n";
}

}  // namespace

std::string listing(const RandomProgram& program) {
    std::string text = std::to_string(program.calls) + " calls\n";
    for (const RandomStage& stage : program.stages) {
        for (const Plan& plan : stage.plans) text += to_text(plan);
        for (const Buffer& buffer : stage.plans[0].buffers) {
            if (buffer.kind != BufferKind::signal) continue;
            const auto index = static_cast<std::size_t>(&buffer - stage.plans[0].buffers.data());
            text += buffer.name + ": " + std::string(name(buffer.element)) + ", stride " +
                    std::to_string(buffer.cell_stride) + ", advance " +
                    std::to_string(stage.plans[0].advance[index]) + "\n";
        }
        for (const std::string& memory : stage.memory) text += "memory " + memory + "\n";
        for (const Held& held : stage.holds) {
            text += held.window + " holds " + std::string(name(held.what)) + "\n";
        }
        if (stage.has_meaning) text += text_of(stage.meaning, stage.plans[0]);
    }
    return text;
}

std::string name(Sort sort) {
    switch (sort) {
        case Sort::monotone: return "monotone";
        case Sort::signals: return "signals";
        case Sort::crowds: return "crowds";
        case Sort::pipes: return "pipes";
        case Sort::fences: return "fences";
        case Sort::deferred: return "deferred";
        case Sort::gathers: return "gathers";
        case Sort::elements: return "elements";
        case Sort::sequences: return "sequences";
        case Sort::lanes: return "lanes";
        case Sort::rounds: return "rounds";
        case Sort::held: return "held";
        case Sort::turns: return "turns";
    }
    return "";
}

RandomProgram random_program(Sort sort, std::uint64_t seed) {
    switch (sort) {
        case Sort::monotone: return random_signals(seed, true);
        case Sort::signals: return random_signals(seed, false);
        case Sort::crowds: return random_crowd(seed);
        case Sort::pipes: return random_pipes(seed, MemoryOrder::drained);
        case Sort::fences: return random_pipes(seed, MemoryOrder::fenced);
        case Sort::deferred: return random_deferred(seed);
        case Sort::gathers: return random_gathers(seed);
        case Sort::elements: return random_elements(seed);
        case Sort::sequences: return random_sequence(seed);
        case Sort::lanes: return random_lanes(seed);
        case Sort::rounds: return random_rounds(seed);
        case Sort::held: return random_held(seed);
        case Sort::turns: return random_turns(seed);
    }
    return {};
}

}  // namespace peal::test
