// SPDX-License-Identifier: Apache-2.0
// Kernels of the user's on a communicator.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/digest.hpp"
#include "comm/desk.hpp"
#include "comm/window.hpp"
#include "engine/aliases.hpp"
#include "engine/binding.hpp"
#include "engine/run_record.hpp"
#include "peal/program.hpp"
#include "plan/between_hosts.hpp"
#include "plan/compile_rank.hpp"
#include "plan/for_host.hpp"
#include "plan/names.hpp"

namespace peal {

using comm::Inside;
using comm::KernelState;

struct comm::KernelState {
    Plan plan;
    engine::Tape tape;
    std::uint64_t identity = 0;  // the same on every rank
    std::string told;            // what it is, for the reports of others
    std::uint64_t group = 0;     // Group::id() of its communicator
    PlanOf plan_of;              // for reports
};

Kernel::Kernel(std::shared_ptr<const KernelState> state) : state_(std::move(state)) {}

namespace {

[[noreturn]] void reject(const Plan& plan, const std::string& why) {
    throw Error(Fault::usage, fmt::format("kernel {}: {}", plan.kernel, why));
}

constexpr int kUntold = 36;  // bits of a digest of 64 that its seven letters leave out

// Programs are taken as printed. The same on every rank that compiled the same thing. Each rank has
// made its own plan only; that windows, signals and generations are the same everywhere, the
// verifier has seen to.
std::uint64_t identity(std::string_view program, std::string_view kernel,
                       const Bindings& bindings) {
    base::Digest digest;
    digest.add(program).add(kernel);
    for (const auto& [name, value] : bindings.integers)
        digest.add(fmt::format("{}={}", name, value));
    for (const auto& [name, value] : bindings.numbers)
        digest.add(fmt::format("{}={}", name, value));
    for (const auto& [name, table] : bindings.tables) {
        digest.add(fmt::format("{}={}", name, fmt::join(table, ",")));
    }
    return digest.half();
}

std::uint64_t identity(const std::vector<Plan>& plans) {
    base::Digest digest;
    for (const Plan& plan : plans) digest.add(peal::digest(plan));
    return digest.half();
}

// "scale of program 573d89f, n=4": what may differ between ranks that run a kernel each.
std::string told_of(std::string_view program, std::string_view kernel, const Bindings& bindings) {
    const std::uint64_t digest = base::Digest().add(program).half();
    std::string told = fmt::format("{} of program {:07x}", kernel, digest >> kUntold);
    for (const auto& [name, value] : bindings.integers) told += fmt::format(", {}={}", name, value);
    for (const auto& [name, value] : bindings.numbers) told += fmt::format(", {}={}", name, value);
    for (const auto& [name, table] : bindings.tables) {
        told += fmt::format(", {}={}", name, fmt::join(table, " "));
    }
    return told;
}

engine::Offer offer_of(const KernelArgument& argument) {
    if (argument.symmetric != nullptr) {
        return {.kind = engine::Offer::Kind::symmetric, .bytes = argument.symmetric->bytes()};
    }
    const ConstMemory& memory = argument.argument;
    return {.kind = engine::Offer::Kind::argument,
            .data = memory.data,
            .bytes = memory.count * bytes_of(memory.element),
            .element = memory.element,
            .is_writable = argument.is_writable};
}

engine::BoundBuffer bind(const Plan& plan, const Buffer& buffer, const KernelArgument& argument,
                         const comm::Group& group) {
    if (const auto wrong = engine::misfit(buffer, offer_of(argument))) {
        reject(plan, fmt::format("{} '{}': expected {}, found {}", name(buffer.kind), buffer.name,
                                 wrong->expected, wrong->found));
    }
    if (buffer.kind == BufferKind::argument) {
        const auto* const data = static_cast<const std::byte*>(argument.argument.data);
        return {.base = const_cast<std::byte*>(data)};
    }
    const comm::Symmetric memory = comm::symmetric(*argument.symmetric, group);
    const bool is_signal = buffer.kind == BufferKind::signal;
    return {memory.base, memory.rank_stride,
            is_signal ? Inside::of(*argument.symmetric).generation : 0};
}

engine::BoundMemory whole_memory(const Buffer& buffer, const engine::BoundBuffer& bound,
                                 const comm::Group& group) {
    const std::uint64_t bytes =
        buffer.kind == BufferKind::argument
            ? buffer.bytes
            : bound.rank_stride * static_cast<std::uint64_t>(group.nranks());
    return {&buffer, bound.base, bytes, group.rank()};
}

// A kernel's plan bound to this rank's memory.
comm::KernelRequest request_for(const KernelAt& kernel, std::span<const KernelArgument> arguments,
                                comm::Group& group) {
    const KernelState& state = Inside::of(kernel.kernel);
    const Plan& plan = state.plan;
    if (state.group != group.id()) reject(plan, "it was made for another communicator");
    if (arguments.size() != plan.buffers.size()) {
        reject(plan, fmt::format("expected {} arguments, found {}", plan.buffers.size(),
                                 arguments.size()));
    }
    comm::KernelRequest request{&state.tape, {}, {}, group.site(kernel.at), &state.plan_of};
    std::vector<std::uint64_t> windows;  // by number
    std::vector<engine::BoundMemory> bound;
    bound.reserve(plan.buffers.size());
    for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
        const Buffer& buffer = plan.buffers[b];
        request.memory.push_back(bind(plan, buffer, arguments[b], group));
        bound.push_back(whole_memory(buffer, request.memory.back(), group));
        if (arguments[b].symmetric != nullptr) {
            windows.push_back(Inside::of(*arguments[b].symmetric).number);
        }
    }
    if (const auto alias = engine::alias_among(bound)) reject(plan, *alias);
    request.stamp = comm::kernel_stamp(state.identity, comm::windows_word(windows));
    group.tell(request.stamp, state.told);
    return request;
}

// The plans of all ranks, as they are carried out.
void record_all(std::vector<Plan> plans, const std::vector<std::int64_t>& hosts) {
    engine::record_set(plan::between_hosts(std::move(plans), hosts), engine::CallOrder::free);
}

// Each rank has made its own plan only. That another rank's cannot be made is its own to say.
void record_all(const ir::Program& program, std::string_view name, const Bindings& bindings,
                const comm::Members& members) try {
    if (engine::records_runs())
        record_all(compile(program, name, bindings, members.nranks()), members.hosts());
} catch (const Error&) {
}

std::shared_ptr<KernelState> make_state(Plan plan, std::uint64_t identity, std::string told,
                                        const comm::Group& group) {
    auto state = std::make_shared<KernelState>();
    state->plan = std::move(plan);
    engine::record_run(state->plan);
    state->tape.read(state->plan, engine::Tape::Windows::shared, engine::Tape::Cells::any,
                     group.members().far);
    state->identity = identity;
    state->told = std::move(told);
    state->group = group.id();
    return state;
}

// Plans of all ranks are kept for reports, if they are not many.
constexpr std::size_t kMostKept = 100'000;

std::size_t instructions_of(const std::vector<Plan>& plans) {
    std::size_t count = 0;
    for (const Plan& plan : plans) count += plan.instructions.size();
    return count;
}

}  // namespace

Kernel Communicator::kernel(const ir::Program& program, std::string_view name,
                            const Bindings& bindings) {
    const comm::Use use(desk_->under_way());
    const auto lowered = std::make_shared<const plan::LoweredKernel>(program, name);
    const comm::Members& members = desk_->group().members();
    const auto plan_of = [lowered, bindings, n = nranks(), hosts = members.hosts()](int r) {
        return plan::between_hosts(plan::compile_rank(*lowered, bindings, r, n),
                                   plan::far_from(r, hosts));
    };
    record_all(program, name, bindings, members);
    const std::string text = print(program);
    auto state = make_state(plan_of(rank()), identity(text, name, bindings),
                            told_of(text, name, bindings), desk_->group());
    state->plan_of = plan_of;
    return Kernel(std::move(state));
}

Kernel Communicator::kernel(const std::vector<Plan>& plans) {
    const comm::Use use(desk_->under_way());
    if (plans.size() != static_cast<std::size_t>(nranks())) {
        throw Error(Fault::usage, fmt::format("kernel: expected the plans of {} ranks, found {}",
                                              nranks(), plans.size()));
    }
    validate(plans);
    const std::vector<std::int64_t> hosts = desk_->group().members().hosts();
    if (engine::records_runs()) record_all(plan::for_host(plans), hosts);
    const auto plan_of = [hosts](const std::vector<Plan>& all, int r) {
        return plan::between_hosts(plan::for_host(all[static_cast<std::size_t>(r)]),
                                   plan::far_from(r, hosts));
    };
    const std::uint64_t all = identity(plans);
    auto state = make_state(plan_of(plans, rank()), all,
                            fmt::format("{} of plans {:07x}", plans.front().kernel, all >> kUntold),
                            desk_->group());
    if (instructions_of(plans) <= kMostKept) {
        state->plan_of = [plans, plan_of](int r) { return plan_of(plans, r); };
    }
    return Kernel(std::move(state));
}

void Communicator::run(KernelAt kernel, std::span<const KernelArgument> arguments) {
    const comm::Use use(desk_->under_way());
    desk_->collectives().drain();
    comm::Group& group = desk_->group();
    const comm::KernelRequest request = request_for(kernel, arguments, group);
    group.progress().meet(request.stamp, request.site);  // all agree on it
    group.progress().run(request);
    engine::advance_generations(Inside::of(kernel.kernel).plan,
                                [&](std::size_t b) -> std::int64_t& {
                                    return Inside::of(*arguments[b].symmetric).generation;
                                });
}

// ---------------------------------------------------------------------------- prepared

struct PreparedKernel::State {
    std::shared_ptr<comm::Desk> desk;
    Kernel kernel;
    comm::KernelRequest request;
    std::vector<const WindowMemory*> signals;  // by buffer; null: it is none
};

PreparedKernel::PreparedKernel(std::unique_ptr<State> state) : state_(std::move(state)) {}
PreparedKernel::PreparedKernel(PreparedKernel&&) noexcept = default;
PreparedKernel& PreparedKernel::operator=(PreparedKernel&&) noexcept = default;
PreparedKernel::~PreparedKernel() = default;

PreparedKernel Communicator::prepare(KernelAt kernel, std::span<const KernelArgument> arguments) {
    const comm::Use use(desk_->under_way());
    desk_->collectives().drain();
    comm::Group& group = desk_->group();
    auto state = std::make_unique<PreparedKernel::State>(
        PreparedKernel::State{desk_, kernel.kernel, request_for(kernel, arguments, group), {}});
    for (std::size_t b = 0; b < arguments.size(); ++b) {
        const bool is_signal = Inside::of(kernel.kernel).plan.buffers[b].kind == BufferKind::signal;
        state->signals.push_back(is_signal ? arguments[b].symmetric : nullptr);
    }
    group.progress().meet(state->request.stamp, state->request.site);
    return PreparedKernel(std::move(state));
}

void PreparedKernel::run() {
    const comm::Use use(state_->desk->under_way());
    state_->desk->collectives().drain();
    std::vector<engine::BoundBuffer>& memory = state_->request.memory;
    for (std::size_t b = 0; b < memory.size(); ++b) {
        if (state_->signals[b]) memory[b].generation = Inside::of(*state_->signals[b]).generation;
    }
    state_->desk->group().progress().run_in_turn(state_->request);
    engine::advance_generations(
        Inside::of(state_->kernel).plan,
        [&](std::size_t b) -> std::int64_t& { return Inside::of(*state_->signals[b]).generation; });
}

}  // namespace peal
