// SPDX-License-Identifier: Apache-2.0
#include "worker/task_maker.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/aliases.hpp"
#include "engine/binding.hpp"
#include "peal/error.hpp"
#include "worker/inside.hpp"
#include "worker/kernel_source.hpp"

namespace peal::worker {
namespace {

bool is_of_this_worker(const Arena& arena, const Tensor& tensor) {
    return tensor.is_on_host() || tensor.bytes() == 0 || arena.contains(tensor.data());
}

void expect_of_this_worker(const Arena& arena, const Tensor& tensor, const char* what) {
    if (is_of_this_worker(arena, tensor)) return;
    throw Error(
        Fault::usage,
        fmt::format("{}: expected memory of this worker, found memory of another one", what));
}

Access access_of(const Tensor& tensor, bool reads, bool writes) {
    return {tensor.data(), tensor.data() + tensor.bytes(), reads, writes};
}

class KernelTaskMaker {
public:
    KernelTaskMaker(const Arena& arena, KernelStore& store, const KernelCall& call)
        : arena_(arena),
          store_(store),
          call_(call),
          title_("kernel " + call.kernel->name()),
          task_(std::make_shared<TaskNode>(TaskNode::Kind::device,
                                           call.name.empty() ? call.kernel->name() : call.name)) {}

    TaskPtr make() {
        expect_devices();
        const int nranks = call_.is_group ? static_cast<int>(call_.devices.size()) : ranks_alone();
        kernel_ = Inside::source(*call_.kernel)->compiled_for(call_.arguments, nranks);
        const std::size_t most = call_.devices.size() * kernel_->argument_of.size();
        task_->accesses.reserve(most);
        task_->keeps.reserve(most);
        bound_.reserve(most);
        task_->members.reserve(call_.devices.size());
        for (std::size_t m = 0; m < call_.devices.size(); ++m) add_member(m);
        if (const auto alias = engine::alias_among(bound_)) reject(*alias);
        task_->kernel = store_.load(
            kernel_, {call_.is_group, Inside::holds(*call_.kernel), Inside::run(*call_.kernel)});
        task_->is_group = call_.is_group;
        return std::move(task_);
    }

private:
    [[noreturn]] void reject(const std::string& why) const {
        throw Error(Fault::usage, fmt::format("{}: {}", title_, why));
    }
    [[noreturn]] void reject(const TaskMember& member, const Buffer& buffer,
                             const std::string& expected, const std::string& found) const {
        reject(fmt::format("parameter '{}' on rank {}: expected {}, found {}", buffer.name,
                           member.device, expected, found));
    }

    void expect_devices() const {
        if (call_.devices.empty()) reject("expected at least one rank, found none");
        for (const int device : call_.devices) {
            if (device < 0 || device >= arena_.devices()) {
                reject(fmt::format("expected ranks 0..{}, found {}", arena_.devices() - 1, device));
            }
            if (std::count(call_.devices.begin(), call_.devices.end(), device) > 1) {
                reject(fmt::format("rank {} is named twice", device));
            }
        }
        if (call_.arguments.size() != call_.devices.size()) {
            reject(fmt::format("expected the arguments of {} ranks, found {}", call_.devices.size(),
                               call_.arguments.size()));
        }
    }

    // A task of one device gets its rank from the domain of its windows.
    const DomainState* domain_alone() const {
        for (const Argument& argument : call_.arguments[0]) {
            const auto* window = std::get_if<DomainWindow>(&argument.value);
            if (window != nullptr) return Inside::domain(*window).get();
        }
        return nullptr;
    }
    int ranks_alone() const {
        const DomainState* domain = domain_alone();
        return domain == nullptr ? 1 : static_cast<int>(domain->ranks.size());
    }
    int rank_of(std::size_t m) const {
        if (call_.is_group) return static_cast<int>(m);
        const DomainState* domain = domain_alone();
        if (domain == nullptr) return 0;
        const int rank = domain->rank_of(call_.devices[0]);
        if (rank < 0) {
            reject(fmt::format("rank {} of the worker is not in domain '{}', which has {}",
                               call_.devices[0], domain->name, fmt::join(domain->ranks, ", ")));
        }
        return rank;
    }

    void add_member(std::size_t m) {
        TaskMember member;
        member.device = call_.devices[m];
        member.rank = rank_of(m);
        const auto rank = static_cast<std::size_t>(member.rank);
        const Plan& plan = kernel_->plans[rank];
        const std::vector<BufferUse>& uses = kernel_->uses[rank];
        member.memory.reserve(plan.buffers.size());
        for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
            const Argument& argument = call_.arguments[m][kernel_->argument_of[b]];
            member.memory.push_back(
                plan.buffers[b].kind == BufferKind::argument
                    ? bind_tensor(member, m, b, plan.buffers[b], uses[b], argument)
                    : bind_window(member, m, b, plan.buffers[b], argument));
        }
        task_->timing.bytes += kernel_->traffic_bytes[rank];
        task_->members.push_back(std::move(member));
    }

    // ---- private memory

    BoundRange bind_tensor(const TaskMember& member, std::size_t m, std::size_t b,
                           const Buffer& buffer, const BufferUse& use, const Argument& argument) {
        const Tensor& tensor = expect_tensor(member, buffer, use, argument);
        bound_.push_back({&buffer, tensor.data(), tensor.bytes(), member.device});
        const bool reads = use.reads || (use.writes && !use.writes_all);
        if (tensor.bytes() == 0 || (!reads && !use.writes)) return {};
        task_->accesses.push_back(access_of(tensor, reads, use.writes));
        if (!tensor.is_on_host()) {
            task_->keeps.push_back(Inside::owner(tensor));
            return {.offset = arena_.offset_of(tensor.data())};
        }
        task_->staged.push_back({m, b, tensor.data(), tensor.bytes(), reads, use.writes});
        return {};
    }

    const Tensor& expect_tensor(const TaskMember& member, const Buffer& buffer,
                                const BufferUse& use, const Argument& argument) const {
        const auto* tensor = std::get_if<Tensor>(&argument.value);
        if (tensor == nullptr) reject(member, buffer, "a tensor", "something else");
        expect_fit(member, buffer, use.writes,
                   {.kind = engine::Offer::Kind::argument,
                    .data = tensor->data(),
                    .bytes = tensor->bytes(),
                    .element = tensor->element(),
                    .is_writable = !tensor->is_read_only(),
                    .shown = to_text(tensor->element(), tensor->shape())});
        if (!tensor->is_on_host() && tensor->rank() != member.device) {
            reject(member, buffer, fmt::format("host memory, or memory of rank {}", member.device),
                   fmt::format("memory of rank {}", tensor->rank()));
        }
        if (!is_of_this_worker(arena_, *tensor)) {
            reject(member, buffer, "memory of this worker", "memory of another one");
        }
        if (use.writes && argument.direction == Direction::in) {
            reject(member, buffer, "out or inout, since the kernel writes it", "in");
        }
        if (use.reads && argument.direction == Direction::out) {
            reject(member, buffer, "in or inout, since the kernel reads it", "out");
        }
        return *tensor;
    }

    // ---- windows

    BoundRange bind_window(const TaskMember& member, std::size_t m, std::size_t b,
                           const Buffer& buffer, const Argument& argument) {
        const auto* argument_window = std::get_if<DomainWindow>(&argument.value);
        if (argument_window == nullptr) {
            reject(member, buffer, "a window of a domain", "something else");
        }
        const std::shared_ptr<DomainState>& domain = Inside::domain(*argument_window);
        const DomainState::Window& window = domain->windows[Inside::index(*argument_window)];
        expect_domain(member, buffer, *domain);
        const bool as_signals = Inside::is_as_signals(*argument_window);
        expect_window(member, buffer, as_signals ? words_of(window) : window.spec, window.bytes);
        if (m == 0) add_window_access(member, buffer, *domain, window, as_signals);
        if (buffer.kind == BufferKind::signal) {
            task_->signals.push_back({m, b, domain.get(), Inside::index(*argument_window)});
        }
        if (std::find(task_->domains.begin(), task_->domains.end(), domain) ==
            task_->domains.end()) {
            task_->domains.push_back(domain);
        }
        return {.offset = window.offset, .rank_stride = window.rank_stride};
    }

    void expect_domain(const TaskMember& member, const Buffer& buffer,
                       const DomainState& domain) const {
        const auto found = [&] { return fmt::format("a window of domain '{}'", domain.name); };
        if (domain.base != arena_.at(0)) {
            reject(member, buffer, "a window of this worker", found() + " of another worker");
        }
        if (domain.released.load(std::memory_order_relaxed)) {
            reject(member, buffer, "a window", found() + ", which has been released");
        }
        const std::vector<int>& expected = call_.is_group ? call_.devices : domain_alone()->ranks;
        if (domain.ranks == expected) return;
        reject(member, buffer,
               fmt::format("a window of a domain with the ranks {}", fmt::join(expected, ", ")),
               fmt::format("{}, which has {}", found(), fmt::join(domain.ranks, ", ")));
    }

    // The window itself is not copied: its generations are the scheduler's.
    static WindowSpec words_of(const DomainState::Window& window) {
        WindowSpec spec = window.spec;
        spec.shape.clear();
        spec.element = Element::i32;
        spec.cell_stride = bytes_of(Element::i32);
        spec.cells = window.bytes / spec.cell_stride;
        return spec;
    }

    void expect_window(const TaskMember& member, const Buffer& buffer, const WindowSpec& spec,
                       std::uint64_t bytes) const {
        const bool has_signals = spec.cells > 0;
        const std::string text = has_signals
                                     ? fmt::format("{} signals of {}, {} bytes apart", spec.cells,
                                                   peal::name(spec.element), spec.cell_stride)
                                     : to_text(spec.element, spec.shape);
        expect_fit(
            member, buffer, true,
            {.kind = has_signals ? engine::Offer::Kind::signals : engine::Offer::Kind::window,
             .bytes = bytes,
             .element = spec.element,
             .cells = spec.cells,
             .cell_stride = spec.cell_stride,
             .shown = fmt::format("'{}', {}", spec.name, text)});
    }

    void expect_fit(const TaskMember& member, const Buffer& buffer, bool is_written,
                    const engine::Offer& offer) const {
        const auto wrong = engine::misfit(buffer, offer, is_written);
        if (wrong) reject(member, buffer, wrong->expected, wrong->found);
    }

    void add_window_access(const TaskMember& member, const Buffer& buffer,
                           const DomainState& domain, const DomainState::Window& window,
                           bool as_signals) {
        const auto nranks = static_cast<std::uint64_t>(domain.ranks.size());
        const std::byte* begin = domain.part(window, call_.is_group ? 0 : member.rank);
        const std::uint64_t bytes =
            call_.is_group ? nranks * window.rank_stride : window.rank_stride;
        task_->accesses.push_back({begin, begin + bytes, true, true});
        // Data and signals of one window may be in the same memory.
        if (!as_signals) bound_.push_back({&buffer, begin, bytes, member.device});
    }

    const Arena& arena_;
    KernelStore& store_;
    const KernelCall& call_;
    const std::string title_;
    CompiledPtr kernel_;
    std::vector<engine::BoundMemory> bound_;
    TaskPtr task_;
};

}  // namespace

TaskPtr make_kernel_task(const Arena& arena, KernelStore& store, const KernelCall& call) {
    return KernelTaskMaker(arena, store, call).make();
}

TaskPtr make_copy_task(const Arena& arena, const Tensor& from, const Tensor& to, std::string name) {
    if (from.element() != to.element() || from.count() != to.count()) {
        throw Error(Fault::usage, fmt::format("copy: expected {}, found {}",
                                              to_text(from.element(), from.shape()),
                                              to_text(to.element(), to.shape())));
    }
    if (to.is_read_only()) {
        throw Error(Fault::usage, "copy: expected memory that can be written, found const memory");
    }
    expect_of_this_worker(arena, from, "copy");
    expect_of_this_worker(arena, to, "copy");
    auto task =
        std::make_shared<TaskNode>(TaskNode::Kind::copy, name.empty() ? "copy" : std::move(name));
    task->accesses = {access_of(from, true, false), access_of(to, false, true)};
    if (engine::overlap(from.data(), from.bytes(), to.data(), to.bytes())) {
        throw Error(Fault::usage, "copy: two arguments overlap in memory, and one is written");
    }
    task->from = from;
    task->to = to;
    task->timing.bytes = 2 * from.bytes();
    return task;
}

TaskPtr make_host_task(const Arena& arena, std::function<void()> function, const Arguments& uses,
                       std::string name) {
    if (!function) throw Error(Fault::usage, "host task: expected a function, found none");
    auto task =
        std::make_shared<TaskNode>(TaskNode::Kind::host, name.empty() ? "host" : std::move(name));
    for (const Argument& use : uses) {
        const auto* tensor = std::get_if<Tensor>(&use.value);
        if (tensor == nullptr || use.direction == Direction::unknown) {
            throw Error(Fault::usage,
                        "host task: expected tensors as in(), out() or inout(), found something "
                        "else");
        }
        const bool reads = use.direction != Direction::out;
        const bool writes = use.direction != Direction::in;
        if (writes && tensor->is_read_only()) {
            throw Error(Fault::usage,
                        "host task: expected memory that can be written, found const memory");
        }
        expect_of_this_worker(arena, *tensor, "host task");
        task->accesses.push_back(access_of(*tensor, reads, writes));
        if (Inside::owner(*tensor)) task->keeps.push_back(Inside::owner(*tensor));
        task->timing.bytes += tensor->bytes();
    }
    task->function = std::move(function);
    return task;
}

}  // namespace peal::worker
