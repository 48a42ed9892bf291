// SPDX-License-Identifier: Apache-2.0
// Carries out the control flow of a lowered kernel for one rank and writes down the instructions.
#pragma once

#include <deque>
#include <string_view>

#include "peal/compile.hpp"
#include "plan/draft.hpp"
#include "plan/evaluate.hpp"
#include "plan/notes.hpp"
#include "plan/resolved.hpp"

namespace peal::plan {

class Specialiser final : private Evaluator {
public:
    // The bindings are those of the kernel.
    Specialiser(const ResolvedKernel& kernel, const Bindings& bindings, int rank, int nranks,
                const CompileOptions& options);

    Draft run() &&;

private:
    // ---- parameters (parameters.cpp)
    void bind_parameters();
    void bind_table(const Parameter& parameter);
    void add_buffer(const Parameter& parameter);
    std::vector<std::int64_t> shape_of(const Parameter& parameter);
    std::uint64_t product(const Parameter& parameter, const std::vector<std::int64_t>& shape) const;

    // ---- control flow (specialise.cpp)
    void run_lane(int lane);
    [[noreturn]] void fail_advance(std::size_t signal, std::int64_t before) const;
    void run_body(const Body& body);
    void carry_out(const Definition& definition, Span span);
    void carry_out(const Command& command, Span span);
    void carry_out(const Loop& loop, Span span);
    void carry_out_rounds(const Loop& loop, Span span, std::int64_t begin, std::int64_t end,
                          std::int64_t step, std::vector<KernelValue>& carried);
    void follow_rounds(const Loop& loop, Span span, std::int64_t lo, std::int64_t hi);
    bool repeat(Repeat repeat, std::uint64_t rounds, std::uint64_t tile_bytes);
    void carry_out(const Branch& branch, Span span);
    void carry_out(const Uninlined& call, Span span);
    void evaluate_all(const std::vector<Operand>& exprs, std::vector<KernelValue>& values);
    void count_round(Span where) override;
    std::uint64_t most_rounds() const;
    std::string who() const override;
    const std::string& signal_name(std::uint16_t signal) const override;

    // ---- ops (emit.cpp)
    KernelValue call(const Expression& call) override;
    KernelValue load(const Expression& call);
    KernelValue remote_load(const Expression& call);
    KernelValue store(const Expression& call);
    enum class Transfer : std::uint8_t { copied, added };  // what the destination becomes
    KernelValue remote_store(const Expression& call, Transfer transfer);
    KernelValue put(const Expression& call, Transfer transfer);
    KernelValue put_later(const Expression& call);
    KernelValue get(const Expression& call);
    KernelValue slice(const Expression& call);
    KernelValue combine(const Expression& call, ReduceOp op);
    KernelValue with_scalar(const Expression& call, MapOp op);
    KernelValue full(const Expression& call);
    KernelValue notify(const Expression& call);
    KernelValue wait(const Expression& call);
    KernelValue generation(const Expression& call);
    KernelValue advance(const Expression& call);
    KernelValue require(const Expression& call);

    std::int32_t peer(const Expression& call, const Expression& operand);
    std::uint64_t natural(const Expression& call, const Expression& operand, std::string_view what);
    std::uint64_t natural(const Expression& call, std::int64_t value, std::string_view what) const;
    double scalar(const Expression& call, const Expression& operand, Element element);
    double exact(const Expression& call, std::int64_t integer) const;
    Cell cell(const Expression& call, std::int32_t rank, const Expression& index);
    Value signal_value(const Expression& call, const Expression& operand, std::uint16_t signal);
    // Where elements begin: the least place, and by how much more in each generation, as a cycle.
    struct Offset {
        std::uint64_t least = 0;
        std::uint64_t most = 0;
        AffineInteger value;
    };
    Offset offset(const Expression& call, const Expression& operand,
                  std::string_view what = "offset");
    // Elements [offset, offset + count) of a buffer of some rank.
    Range elements(const Expression& call, std::uint16_t buffer, std::int32_t rank,
                   const Offset& offset, std::uint64_t count);
    std::uint16_t shift_of(const Expression& call, std::uint16_t buffer, const Offset& offset);
    void settle_turns();
    Range range_of(const TileValue& tile) const;
    TileValue new_tile(const Expression& call, Element element, std::uint64_t count);
    TileValue load_from(const Expression& call, const Range& source);
    void emit_copy(const Expression& call, const Range& dst, const Range& src);
    void move(const Expression& call, Transfer transfer, const Range& dst, const Range& src);
    void emit(const Expression& call, Action action);
    std::uint32_t round_here();

    const ResolvedKernel& kernel_;
    const Bindings& bindings_;
    const CompileOptions& options_;
    // A loop that is being carried out. Its round is written down when an instruction needs it.
    struct OpenLoop {
        std::uint32_t name = 0;
        std::int64_t value = 0;
        std::uint32_t round = 0;
    };
    std::uint32_t name_number(std::string_view name);

    Plan plan_;
    std::vector<Repeat> repeats_;
    std::uint64_t repeated_ = 0;        // instructions that only they have
    bool follows_ = false;              // the rounds of a loop around what is carried out
    std::shared_ptr<PlanNotes> notes_;  // only where there is a source: nobody else is told
    std::vector<OpenLoop> loops_;
    std::deque<Table> tables_;  // stable: variables point into it
    std::uint64_t rounds_ = 0;
    int lane_ = 0;  // that is being written down
};

}  // namespace peal::plan
