// SPDX-License-Identifier: Apache-2.0
#include "pto/trace_child.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "peal/error.hpp"
#include "platform_comm/comm_context.h"
#include "pto/child.hpp"
#include "pto/recorder.hpp"
#include "pto/trace_report.hpp"
#include "pto_orchestration_api.h"
#include "tensor.h"

namespace peal::pto {
namespace {

namespace device = ::pto::trace;

namespace shim = ::pto::orchestration;

constexpr std::size_t kArgumentSlots = 50;                  // of a kernel that a shim launches
constexpr std::uint64_t kNowhere = std::uint64_t{1} << 46;  // addresses of tensors to come

// The arguments of a call. Behind the last one begins a page that cannot be touched, so that a
// kernel that reads more than it is given is found there.
class ArgumentList {
public:
    explicit ArgumentList(std::size_t count) : count_(count) {
        const std::size_t bytes = (count * sizeof(std::int64_t) + kPage - 1) / kPage * kPage;
        void* memory = mmap(nullptr, bytes + kPage, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw Error(Fault::resource, "no memory for a trace");
        end_ = static_cast<char*>(memory) + bytes;
        mprotect(end_, kPage, PROT_NONE);
    }

    std::int64_t* data() const { return reinterpret_cast<std::int64_t*>(end_) - count_; }
    // Which argument would be at an address behind them; -1 if none would.
    std::int64_t at(std::uint64_t address) const {
        const auto end = reinterpret_cast<std::uint64_t>(end_);
        if (address < end || address >= end + kPage) return -1;
        return static_cast<std::int64_t>(count_ + (address - end) / sizeof(std::int64_t));
    }

private:
    static constexpr std::size_t kPage = 4096;
    std::size_t count_;
    char* end_ = nullptr;  // lives as long as the process
};

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
        catch_faults();
        if (const Check ask = symbol<Check>(0, "kernel_check"); ask && !is_shim()) check(ask);
        for (const std::int64_t generation : run_.generations) {
            recorder_.begin(generation);
            prepare_arguments(generation);
            guarded([&] {
                if (is_shim()) return orchestrate();
                launch(0, arguments_.data());
            });
            recorder_.end();
        }
        recorder_.send(launch_);
    }

private:
    using Entry = void (*)(std::int64_t*);
    using Check = std::int32_t (*)(std::int64_t*);

    struct Library {
        void* handle = nullptr;
        std::uint64_t base = 0;
    };

    bool is_shim() const { return !run_.callee->shim.empty(); }

    Library load(const std::string& path) const {
        Library library;
        library.handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!library.handle) finish(fmt::format("cannot be loaded: {}", dlerror()));
        link_map* map = nullptr;
        if (dlinfo(library.handle, RTLD_DI_LINKMAP, &map) == 0) library.base = map->l_addr;
        return library;
    }

    template <class Function>
    Function symbol(std::size_t library, const char* name) const {
        return reinterpret_cast<Function>(dlsym(libraries_[library].handle, name));
    }

    // Calls a kernel.
    void launch(std::size_t kernel, std::int64_t* arguments) {
        using BeBlock = void (*)(std::int64_t, std::int64_t);
        using Attach = void (*)(device::Record);
        symbol<BeBlock>(kernel, "peal_pto_be_block")(run_.block, run_.options.blocks);
        symbol<Attach>(kernel, "peal_pto_attach")(&Child::take);
        symbol<Entry>(kernel, "kernel_entry")(arguments);
    }

    // ------------------------------------------------------------------------ shims

    void orchestrate() {
        using Attach = void (*)(shim::Host);
        using Run = void (*)(const ChipTaskArgs&);
        using Config = PTO2OrchestrationConfig (*)(const ChipTaskArgs&);
        const std::size_t library = libraries_.size() - 1;
        launch_.number = 0;
        launch_.created.clear();
        std::vector<ChipTensorArg> tensors;
        std::vector<std::uint64_t> scalars;
        for (std::size_t i = 0; i < run_.frame->arguments.size(); ++i) {
            if (run_.frame->arguments[i].is_tensor()) {
                static_cast<ChipTensor&>(tensors.emplace_back()) = descriptors_[i];
            } else {
                scalars.push_back(static_cast<std::uint64_t>(arguments_.data()[i]));
            }
        }
        const ChipTaskArgs arguments(tensors.data(), static_cast<std::uint32_t>(tensors.size()),
                                     scalars.data(), static_cast<std::uint32_t>(scalars.size()));
        symbol<Attach>(library, "peal_orchestration_attach")(
            {&Child::submitted, &Child::created, &Child::refused});
        const Callee& callee = *run_.callee;
        if (const auto config = symbol<Config>(library, callee.config.c_str())) {
            const int expected = config(arguments).expected_arg_count;
            const auto given = static_cast<int>(tensors.size() + scalars.size());
            if (expected > given) {
                finish(fmt::format("{} expects {} arguments, found {}", callee.config, expected,
                                   given));
            }
        }
        const auto run = symbol<Run>(library, callee.entry.c_str());
        if (!run) finish(fmt::format("the shim has no function {}", callee.entry));
        run(arguments);
    }

    static void submitted(const shim::Submission& task) { self_->submit(task); }

    void submit(const shim::Submission& task) {
        const std::vector<Callee::Kernel>& kernels = run_.callee->kernels;
        const auto found = std::find_if(
            kernels.begin(), kernels.end(),
            [&](const Callee::Kernel& kernel) { return kernel.function == task.function; });
        if (found == kernels.end()) {
            refuse_shim(task.where, "the chip callable has no kernel {}", task.function);
        }
        if (task.blocks < 1 || task.blocks > kMaxLanes) {
            refuse_shim(task.where, "a kernel is launched on 1 to {} blocks, found {}", kMaxLanes,
                        task.blocks);
        }
        if (launch_.number > 0 && (task.blocks > 1 || launch_.blocks > 1)) {
            refuse_shim(task.where,
                        "a kernel on several blocks must be the only one of its chip task");
        }
        launch_.blocks = task.blocks;
        // Behind them are the arguments that no kernel is told of, and what it knows of its block.
        std::vector<std::int64_t> arguments(kArgumentSlots, 0);
        std::vector<ChipTensor> tensors(task.tensor_count);
        for (std::uint32_t i = 0; i < task.tensor_count; ++i) {
            tensors[i] = *task.tensors[i];
            arguments[i] = reinterpret_cast<std::int64_t>(&tensors[i]);
        }
        for (std::uint32_t i = 0; i < task.scalar_count; ++i) {
            arguments[task.tensor_count + i] = static_cast<std::int64_t>(task.scalars[i]);
        }
        launch(static_cast<std::size_t>(found - kernels.begin()), arguments.data());
        ++launch_.number;
    }

    static std::uint64_t created(std::uint64_t bytes, DataType type, const shim::Where& where) {
        return self_->create(bytes, type, where);
    }

    // Memory of this size may be there. If it is not, the recording says what is missing, and any
    // address will do until then.
    std::uint64_t create(std::uint64_t bytes, DataType type, const shim::Where& where) {
        if (launch_.created.size() == kMostCreated) {
            refuse_shim(where, "a shim creates at most {} tensors", kMostCreated);
        }
        if (bytes == 0 || bytes > kMostCreatedBytes) {
            refuse_shim(where, "a created tensor has 1 to {} bytes, found {}", kMostCreatedBytes,
                        bytes);
        }
        const auto element = std::find_if(kElements.begin(), kElements.end(),
                                          [&](Element each) { return type_of(each) == type; });
        if (element == kElements.end()) {
            refuse_shim(where, "a tensor of type {} cannot be created: Peal has no such elements",
                        static_cast<int>(type));
        }
        launch_.created.push_back({bytes, *element});
        const std::size_t place = run_.layout().created_at + launch_.created.size() - 1;
        const std::vector<Placed>& placed = run_.layout().placed;
        if (place < placed.size()) {
            if (placed[place].bytes != bytes) {
                refuse_shim(where, "the shim creates a tensor of {} bytes here, and of {} before",
                            bytes, placed[place].bytes);
            }
            return run_.addresses->address(placed[place]);
        }
        return kNowhere + launch_.created.size() * kMostCreatedBytes;
    }

    static void refused(const char* words, const shim::Where& where) {
        self_->refuse_shim(where, "{}", words);
    }

    template <class... Args>
    [[noreturn]] void refuse_shim(const shim::Where& where, fmt::format_string<Args...> format,
                                  Args&&... args) const {
        messenger_.end(
            Message::sentence,
            fmt::format("{}:{}, {}: {}", std::filesystem::path(where.file).filename().string(),
                        where.line, run_.who(), fmt::format(format, std::forward<Args>(args)...)));
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

    // ------------------------------------------------------------------------ faults

    static void catch_faults() {
        static char stack[1 << 16];
        stack_t where{};
        where.ss_sp = stack;
        where.ss_size = sizeof(stack);
        sigaltstack(&where, nullptr);
        void* frame = nullptr;
        backtrace(&frame, 1);  // loads what it needs now
        struct sigaction action {};
        action.sa_sigaction = &Child::on_fault;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND;
        for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) {
            sigaction(signal, &action, nullptr);
        }
    }

    static void on_fault(int signal, siginfo_t* info, void* context) {
        Crash crash;
        crash.signal = signal;
        crash.address = reinterpret_cast<std::uint64_t>(info->si_addr);
        crash.access = access_of(context);
        crash.argument = self_->arguments_.at(crash.address);
        void* frames[Crash::kMaxFrames];
        const int count = backtrace(frames, Crash::kMaxFrames);
        for (int i = 0; i < count; ++i) {
            Dl_info where{};
            if (dladdr(frames[i], &where) == 0) continue;
            for (std::uint32_t library = 0; library < self_->libraries_.size(); ++library) {
                const std::uint64_t base = self_->libraries_[library].base;
                if (reinterpret_cast<std::uint64_t>(where.dli_fbase) != base) continue;
                crash.libraries[crash.frame_count] = library;
                crash.frames[crash.frame_count++] =
                    reinterpret_cast<std::uint64_t>(frames[i]) - base;
            }
        }
        self_->messenger_.end(crash);
    }

    static int access_of([[maybe_unused]] void* context) {
#if defined(__x86_64__)
        constexpr int kWriteBit = 2;
        const auto* state = static_cast<const ucontext_t*>(context);
        return (state->uc_mcontext.gregs[REG_ERR] & kWriteBit) != 0 ? 1 : 0;
#else
        return -1;
#endif
    }

    static Child* self_;

    const KernelRun& run_;
    Messenger messenger_;
    Recorder recorder_;
    std::vector<Library> libraries_;  // of the kernels, and behind them that of the shim
    ShimLaunch launch_;
    std::vector<CommContext> contexts_;  // by domain
    std::vector<ChipTensor> descriptors_;
    ArgumentList arguments_;
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
