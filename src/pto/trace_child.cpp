// SPDX-License-Identifier: Apache-2.0
#include "pto/trace_child.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "peal/error.hpp"
#include "platform_comm/comm_context.h"
#include "pto/argument_list.hpp"
#include "pto/child.hpp"
#include "pto/faults.hpp"
#include "pto/library.hpp"
#include "pto/recorder.hpp"
#include "pto/shim_host.hpp"
#include "pto/trace_report.hpp"
#include "tensor.h"

namespace peal::pto {
namespace {

namespace device = ::pto::trace;

// There is one in the process of a kernel.
class Child {
public:
    Child(const KernelRun& run, int descriptor, Progress& progress)
        : run_(run),
          messenger_(descriptor),
          recorder_(run, messenger_, progress),
          arguments_(run.frame->arguments.size()) {
        self_ = this;
    }

    void trace() {
        for (const Callee::Kernel& kernel : run_.callee->kernels) {
            libraries_.push_back(load(kernel.library));
        }
        if (is_shim()) libraries_.push_back(load(run_.callee->shim));
        catch_faults(witness_);
        if (is_shim()) {
            shim_.emplace(
                run_, libraries_.back(), messenger_, launch_,
                [this](std::size_t kernel, std::int64_t* arguments) { launch(kernel, arguments); });
        } else if (const auto ask = libraries_[0].symbol<Check>("kernel_check")) {
            check(ask);
        }
        for (const std::int64_t generation : run_.generations) {
            recorder_.begin(generation);
            prepare_arguments(generation);
            guarded([&] {
                if (shim_) return shim_->call(arguments_, descriptors_);
                launch(0, arguments_.data());
            });
            recorder_.end();
        }
        recorder_.send(launch_);
    }

private:
    using Entry = void (*)(std::int64_t*);
    using Check = std::int32_t (*)(std::int64_t*);

    bool is_shim() const { return !run_.callee->shim.empty(); }

    Library load(const std::string& path) const {
        Library library;
        library.handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!library.handle) finish(fmt::format("cannot be loaded: {}", dlerror()));
        link_map* map = nullptr;
        if (dlinfo(library.handle, RTLD_DI_LINKMAP, &map) == 0) library.base = map->l_addr;
        return library;
    }

    // Calls a kernel.
    void launch(std::size_t kernel, std::int64_t* arguments) {
        using BeBlock = void (*)(std::int64_t, std::int64_t);
        using Attach = void (*)(device::Record);
        const Library& library = libraries_[kernel];
        library.symbol<BeBlock>("peal_pto_be_block")(run_.block, run_.options.blocks);
        library.symbol<Attach>("peal_pto_attach")(&Child::take);
        library.symbol<Entry>("kernel_entry")(arguments);
    }

    // ------------------------------------------------------------------------ calls

    // A kernel that has a check of its arguments is not called with others.
    void check(Check ask) {
        recorder_.begin(0);
        prepare_arguments(0);
        const std::int32_t code = ask(arguments_.data());
        if (code == 0) return;
        messenger_.end(Message::refusal, std::to_string(code));
    }

    template <class Act>
    void guarded(Act&& act) {
        try {
            act();
        } catch (const std::exception& error) {
            finish(fmt::format("the kernel throws: {}", error.what()));
        } catch (...) {
            finish("the kernel throws something that is no std::exception");
        }
    }

    static bool take(const device::Operation& operation) {
        self_->recorder_.add(operation, self_->launch_);
        return false;
    }

    // ------------------------------------------------------------------------ arguments

    void prepare_arguments(std::int64_t generation) {
        const std::vector<WindowDomain>& domains = run_.layout().domains;
        contexts_.resize(domains.size());
        for (std::size_t i = 0; i < domains.size(); ++i) contexts_[i] = context_of(i);
        descriptors_.resize(run_.frame->arguments.size());
        for (std::size_t i = 0; i < run_.frame->arguments.size(); ++i) {
            arguments_.data()[i] = argument(i, generation);
        }
    }

    CommContext context_of(std::size_t index) const {
        const WindowDomain& domain = run_.layout().domains[index];
        CommContext context{};
        context.rankId = static_cast<std::uint32_t>(domain.rank_of(run_.rank));
        context.rankNum = static_cast<std::uint32_t>(domain.ranks.size());
        context.winSize = domain.bytes;
        for (std::size_t peer = 0; peer < domain.ranks.size(); ++peer) {
            context.windowsIn[peer] = run_.addresses->windows(index, domain.ranks[peer]);
            context.windowsOut[peer] = context.windowsIn[peer];
        }
        return context;
    }

    std::int64_t argument(std::size_t index, std::int64_t generation) {
        if (const auto number = run_.number_at(index, generation)) return *number;
        const FrameArgument& given = run_.frame->arguments[index];
        if (given.kind == Parameter::Kind::context) {
            return reinterpret_cast<std::int64_t>(&contexts_[given.domain]);
        }
        if (given.kind == Parameter::Kind::address) {
            return static_cast<std::int64_t>(run_.addresses->windows(given.domain, run_.rank)) +
                   given.value;
        }
        return reinterpret_cast<std::int64_t>(describe(index));
    }

    ChipTensor* describe(std::size_t index) {
        const FrameArgument& given = run_.frame->arguments[index];
        const Placed& placed = run_.layout().placed[given.place];
        ChipTensor& tensor = descriptors_[index];
        tensor = {};
        tensor.buffer.addr = run_.addresses->address(placed) + given.base;
        tensor.buffer.size = placed.bytes - given.base;
        tensor.start_offset = given.start;
        tensor.dtype = given.type;
        tensor.ndims = static_cast<std::uint32_t>(given.shape.size());
        for (std::size_t i = 0; i < given.shape.size(); ++i) {
            tensor.shapes[i] = static_cast<std::uint32_t>(given.shape[i]);
            tensor.strides[i] = static_cast<std::uint32_t>(given.strides[i]);
        }
        tensor.is_contiguous = given.strides == row_major(given.shape) ? 1 : 0;
        return &tensor;
    }

    [[noreturn]] void finish(const std::string& words) const {
        messenger_.end(Message::words, words);
    }

    static Child* self_;

    const KernelRun& run_;
    Messenger messenger_;
    Recorder recorder_;
    std::vector<Library> libraries_;  // of the kernels, and behind them that of the shim
    std::optional<ShimHost> shim_;
    ShimLaunch launch_;
    std::vector<CommContext> contexts_;  // by domain
    std::vector<ChipTensor> descriptors_;
    ArgumentList arguments_;
    const Witness witness_{messenger_, arguments_, libraries_};
};

Child* Child::self_ = nullptr;

// Memory that parent and child share.
class SharedProgress {
public:
    SharedProgress()
        : memory_(mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
        if (memory_ == MAP_FAILED) throw Error(Fault::resource, "no memory for a trace");
        new (memory_) Progress;
    }
    ~SharedProgress() { munmap(memory_, sizeof(Progress)); }
    SharedProgress(const SharedProgress&) = delete;
    SharedProgress& operator=(const SharedProgress&) = delete;

    Progress& operator*() const { return *static_cast<Progress*>(memory_); }
    Progress* operator->() const { return static_cast<Progress*>(memory_); }

private:
    void* memory_;
};

}  // namespace

Recording record(const KernelRun& run) {
    const SharedProgress progress;
    // A kernel that writes over its progress does not get more time than all its calls may take.
    const auto calls = static_cast<int>(run.generations.size()) + 1;
    const auto last = ChildClock::now() + calls * run.options.timeout;
    const ChildLimits limits{
        [&] { return std::min(progress->began.load() + run.options.timeout, last); },
        [&](std::string_view said) { return speech_limit(said, run.options.max_operations); }};
    const ChildEnd end =
        run_in_child([&](int descriptor) { Child(run, descriptor, *progress).trace(); }, limits);
    return recording_of(end, run, *progress);
}

}  // namespace peal::pto
