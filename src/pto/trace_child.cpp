// SPDX-License-Identifier: Apache-2.0
#include "pto/trace_child.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file.hpp"
#include "peal/compile.hpp"
#include "peal/error.hpp"
#include "platform_comm/comm_context.h"
#include "pto/child.hpp"
#include "pto/program.hpp"
#include "pto_orchestration_api.h"
#include "tensor.h"

namespace peal::pto {
namespace {

namespace device = ::pto::trace;

namespace shim = ::pto::orchestration;

constexpr std::uint64_t kMostTextBytes = std::uint64_t{64} << 20;
constexpr std::size_t kArgumentSlots = 50;  // of a kernel that a shim launches

// ---------------------------------------------------------------------------- what is said

enum class Message : char {
    recording = 'R',
    words = 'W',
    sentence = 'S',
    crash = 'C',
    refusal = 'N'
};

struct Crash {
    static constexpr int kMaxFrames = 32;
    int signal = 0;
    std::uint64_t address = 0;
    int access = -1;             // 0 read, 1 write, -1 not known
    std::int64_t argument = -1;  // behind the last one, that was touched
    int frame_count = 0;
    // Places in the libraries of Callee::kernels; the one behind them is the shim's.
    std::uint64_t frames[kMaxFrames] = {};
    std::uint32_t libraries[kMaxFrames] = {};
};

// How far the kernel has come; shared with the parent, who may have to tell.
struct Progress {
    std::atomic<std::int64_t> generation = 0;
    std::atomic<ChildClock::time_point> began = ChildClock::now();  // this generation
    std::uint64_t operations = 0;  // of this generation, and the last one's place:
    std::uint32_t line = 0;
    char name[32] = {};
    char file[512] = {};
};

// ---------------------------------------------------------------------------- the child

// An argument that is a number.
std::optional<std::int64_t> number_at(const KernelRun& run, std::size_t argument,
                                      std::int64_t generation) {
    const FrameArgument& given = run.frame->arguments[argument];
    switch (given.kind) {
        case Parameter::Kind::scalar: return given.value;
        case Parameter::Kind::nranks: return run.nranks;
        case Parameter::Kind::rank: return run.rank;
        case Parameter::Kind::generation: return generation;
        default: return std::nullopt;
    }
}

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
          descriptor_(descriptor),
          progress_(progress),
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
        for (traced_ = 0; traced_ < run_.generations.size(); ++traced_) {
            const std::int64_t generation = run_.generations[traced_];
            begin(generation);
            prepare_arguments(generation);
            guarded([&] {
                if (is_shim()) return orchestrate();
                launch(0, arguments_.data());
            });
            expect_all(generation);
        }
        progress_.began = ChildClock::now();
        settle_places();
        send_recording();
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
        launches_ = 0;
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
        if (launches_ > 0 && (task.blocks > 1 || blocks_ > 1)) {
            refuse_shim(task.where,
                        "a kernel on several blocks must be the only one of its chip task");
        }
        blocks_ = task.blocks;
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
        ++launches_;
    }

    static std::uint64_t created(std::uint64_t /*bytes*/, const shim::Where& where) {
        self_->refuse_shim(where,
                           "the shim creates a tensor: this is not supported; pass one to "
                           "the task");
    }

    static void refused(const char* words, const shim::Where& where) {
        self_->refuse_shim(where, "{}", words);
    }

    template <class... Args>
    [[noreturn]] void refuse_shim(const shim::Where& where, fmt::format_string<Args...> format,
                                  Args&&... args) const {
        say_message(
            Message::sentence,
            fmt::format("{}:{}, {}: {}", std::filesystem::path(where.file).filename().string(),
                        where.line, run_.who(), fmt::format(format, std::forward<Args>(args)...)));
        _exit(0);
    }

    // ------------------------------------------------------------------------ calls

    // A kernel that has a check of its arguments is not called with others.
    void check(Check ask) {
        begin(0);
        prepare_arguments(0);
        const std::int32_t code = ask(arguments_.data());
        if (code == 0) return;
        say_message(Message::refusal, std::to_string(code));
        _exit(0);
    }

    void begin(std::int64_t generation) {
        progress_.generation = generation;
        progress_.operations = 0;
        progress_.began = ChildClock::now();
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

    void expect_all(std::int64_t generation) const {
        if (progress_.operations < recorded_.size()) {
            const Recorded& next = recorded_[progress_.operations];
            refuse(next.operation, "in generation {} the kernel ends before it", generation);
        }
    }

    static bool take(const device::Operation& operation) {
        self_->add(operation);
        return false;
    }

    void add(const device::Operation& operation) {
        if (progress_.operations == run_.options.max_operations) {
            finish(fmt::format("the kernel issues more than {} instructions: does it end?",
                               run_.options.max_operations));
        }
        if (operation.file != last_file_) {
            last_file_ = operation.file;
            file_number_ = number_of(operation.file);
            std::strncpy(progress_.file, operation.file, sizeof(progress_.file) - 1);
        }
        std::strncpy(progress_.name, operation.name, sizeof(progress_.name) - 1);
        progress_.line = operation.line;
        const std::uint64_t number = progress_.operations++;
        if (progress_.generation != 0) return compare(operation, number);
        recorded_.push_back({operation, file_number_, launches_});
        if (operation.op == device::Op::test) {
            // There is no right answer; what was recorded so far says where it was asked.
            send_recording();
            _exit(0);
        }
    }

    // ------------------------------------------------------------------------ later generations

    // Instruction `number` of a later generation beside that of generation 0.
    void compare(const device::Operation& operation, std::uint64_t number) {
        const std::int64_t generation = progress_.generation;
        if (number == recorded_.size()) {
            refuse(operation, "generation {} issues it after the last instruction of generation 0",
                   generation);
        }
        Recorded& first = recorded_[number];
        if (!is_same(first.operation, operation)) {
            const bool is_here = first.operation.line == operation.line &&
                                 first.operation.file == operation.file &&
                                 first.operation.name == operation.name;
            if (is_here)
                refuse(first.operation, "generation {} gives it other operands", generation);
            refuse(first.operation, "generation {} issues {} instead ({})", generation,
                   operation.name, place_of(operation));
        }
        note_places(operation, number);
        const std::int64_t value = operation.value;
        if (generation == 1) first.per_generation = value - first.operation.value;
        const std::int64_t wanted = first.operation.value + generation * first.per_generation;
        // What nobody claims may exceed what a cell holds.
        const bool is_claimed = generation < run_.options.calls;
        if (value == (is_claimed ? wanted : static_cast<std::int32_t>(wanted))) return;
        say_sentence(operation,
                     "the value is {} and {} in generations 0 and 1, and {} in generation {}, not "
                     "{}: it must grow by a constant from one call on a window to the next",
                     first.operation.value, first.operation.value + first.per_generation, value,
                     generation, wanted);
    }

    void note_places(const device::Operation& operation, std::uint64_t number) {
        for (std::size_t i = 0; i < std::size(operation.memory); ++i) {
            const std::uint64_t first = recorded_[number].operation.memory[i].address;
            const std::uint64_t address = operation.memory[i].address;
            const auto known = moved_.find({number, i});
            if (known == moved_.end() && address == first) continue;
            std::vector<std::uint64_t>& addresses = moved_[{number, i}];
            addresses.resize(traced_, first);
            addresses.push_back(address);
        }
    }

    // All places are in each generation where they are in the same turn of the first.
    void settle_places() {
        const auto comes_back = [&](const std::vector<std::uint64_t>& addresses) {
            for (std::size_t i = 0; i < addresses.size(); ++i) {
                const auto generation = static_cast<std::uint64_t>(run_.generations[i]);
                if (addresses[i] != addresses[generation % turns_]) return false;
            }
            return true;
        };
        for (const auto& [operand, addresses] : moved_) {
            while (turns_ <= kMostTracedTurns && !comes_back(addresses)) ++turns_;
            if (turns_ <= kMostTracedTurns) continue;
            say_sentence(recorded_[operand.first].operation,
                         "its memory moves with the generation, and is not back where it was after "
                         "{} generations or fewer: calls may take so many turns",
                         kMostTracedTurns);
        }
        for (const auto& [operand, addresses] : moved_) {
            if (!comes_back(addresses)) return settle_further();
            places_.emplace_back(addresses.begin(), addresses.begin() + turns_);
            recorded_[operand.first].places[operand.second] =
                static_cast<std::uint32_t>(places_.size());
        }
    }

    // Several periods: the next number of turns.
    void settle_further() {
        places_.clear();
        ++turns_;
        settle_places();
    }

    // But for the value of a signal, and where memory is.
    static bool is_same(const device::Operation& a, const device::Operation& b) {
        return a.op == b.op && a.name == b.name && a.file == b.file && a.line == b.line &&
               std::equal(std::begin(a.tile), std::end(a.tile), b.tile) &&
               std::equal(std::begin(a.memory), std::end(a.memory), b.memory, is_alike) &&
               std::bit_cast<std::uint64_t>(a.scalar) == std::bit_cast<std::uint64_t>(b.scalar) &&
               a.cell == b.cell && a.compare == b.compare && a.pipe[0] == b.pipe[0] &&
               a.pipe[1] == b.pipe[1] && a.event == b.event;
    }

    static bool is_alike(const device::MemoryOperand& a, device::MemoryOperand b) {
        b.address = a.address;
        return a == b;
    }

    template <class... Args>
    [[noreturn]] void refuse(const device::Operation& operation, fmt::format_string<Args...> format,
                             Args&&... args) const {
        say_sentence(operation,
                     "{}; only the values of signals, and where in memory data is, may depend on "
                     "the generation, all else is one plan",
                     fmt::format(format, std::forward<Args>(args)...));
    }

    template <class... Args>
    [[noreturn]] void say_sentence(const device::Operation& operation,
                                   fmt::format_string<Args...> format, Args&&... args) const {
        say_message(Message::sentence,
                    fmt::format("{}, {}: {}: {}", place_of(operation), run_.who(), operation.name,
                                fmt::format(format, std::forward<Args>(args)...)));
        _exit(0);
    }

    static std::string place_of(const device::Operation& operation) {
        return fmt::format("{}:{}", std::filesystem::path(operation.file).filename().string(),
                           operation.line);
    }

    // ------------------------------------------------------------------------ arguments

    std::uint32_t number_of(const std::string& file) {
        const auto [found, is_new] =
            numbers_.try_emplace(file, static_cast<std::uint32_t>(files_.size()));
        if (is_new) files_.push_back(file);
        return found->second;
    }

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
        if (const auto number = number_at(run_, index, generation)) return *number;
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

    void say_message(Message kind, const std::string& text) const {
        say(descriptor_, &kind, sizeof(kind));
        say(descriptor_, text.data(), text.size());
    }

    [[noreturn]] void finish(const std::string& words) const {
        say_message(Message::words, words);
        _exit(0);
    }

    void send_recording() const {
        std::string text;
        const auto append = [&](const void* data, std::size_t bytes) {
            text.append(static_cast<const char*>(data), bytes);
        };
        const std::uint64_t counts[] = {recorded_.size(), files_.size(),
                                        static_cast<std::uint64_t>(blocks_), turns_,
                                        places_.size()};
        append(counts, sizeof(counts));
        append(recorded_.data(), recorded_.size() * sizeof(Recorded));
        for (const auto& list : places_) append(list.data(), list.size() * sizeof(list[0]));
        for (const std::string& file : files_) append(file.c_str(), file.size() + 1);
        // The names of instructions are in the library: they travel as text too.
        for (const Recorded& one : recorded_) {
            append(one.operation.name, std::strlen(one.operation.name) + 1);
        }
        say_message(Message::recording, text);
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
        const Message kind = Message::crash;
        say(self_->descriptor_, &kind, sizeof(kind));
        say(self_->descriptor_, &crash, sizeof(crash));
        _exit(1);
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
    int descriptor_;
    Progress& progress_;
    std::vector<Library> libraries_;  // of the kernels, and behind them that of the shim
    std::uint32_t launches_ = 0;      // of this call
    std::int32_t blocks_ = 1;
    std::vector<CommContext> contexts_;  // by domain
    std::vector<ChipTensor> descriptors_;
    ArgumentList arguments_;
    std::vector<Recorded> recorded_;
    std::size_t traced_ = 0;  // generations before this one
    // Operands of memory that are not always in the same place, by number and operand: where, by
    // traced generation.
    std::map<std::pair<std::uint64_t, std::size_t>, std::vector<std::uint64_t>> moved_;
    std::uint32_t turns_ = 1;
    std::vector<std::vector<std::uint64_t>> places_;
    std::vector<std::string> files_;
    std::map<std::string, std::uint32_t> numbers_;
    const char* last_file_ = nullptr;
    std::uint32_t file_number_ = 0;
};

Child* Child::self_ = nullptr;

// ---------------------------------------------------------------------------- the parent

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

// Takes a message apart; calls `fail`, which does not return, where it ends too early.
template <class Fail>
class Scanner {
public:
    Scanner(std::string_view text, Fail fail) : left_(text), fail_(fail) {}

    void take(void* to, std::size_t bytes) {
        if (bytes > left_.size()) fail_();
        if (bytes > 0) std::memcpy(to, left_.data(), bytes);
        left_.remove_prefix(bytes);
    }
    std::string_view word() {
        const std::size_t end = left_.find('\0');
        if (end == std::string_view::npos) fail_();
        const std::string_view found = left_.substr(0, end);
        left_.remove_prefix(end + 1);
        return found;
    }
    bool is_at_end() const { return left_.empty(); }

private:
    std::string_view left_;
    Fail fail_;
};

// How much may be said, after it has begun like this: a recording says how long it is.
class SpeechLimit {
public:
    explicit SpeechLimit(std::uint64_t max_operations) : max_operations_(max_operations) {}

    std::size_t operator()(std::string_view said) const {
        std::uint64_t count = 0;
        if (said.size() < 1 + sizeof(count) || said[0] != static_cast<char>(Message::recording)) {
            return kOther;
        }
        std::memcpy(&count, said.data() + 1, sizeof(count));
        return kOther + std::min(count, max_operations_) * (sizeof(Recorded) + kName + kPlaces);
    }

private:
    static constexpr std::size_t kOther = 1 << 20;  // and the files of a recording
    static constexpr std::size_t kName = 64;        // of an instruction
    static constexpr std::size_t kPlaces = 2 * kMostTracedTurns * sizeof(std::uint64_t);
    std::uint64_t max_operations_;
};

class Listener {
public:
    Listener(const KernelRun& run, const Progress& progress) : run_(run), progress_(progress) {}

    Recording recording(const ChildEnd& end) const {
        if (end.timed_out) {
            fail("the kernel does not return: it was stopped after {} ms{}",
                 run_.options.timeout.count(), last_instruction());
        }
        if (end.said_too_much) refuse_report();
        const std::string_view said = std::string_view(end.said).substr(end.said.empty() ? 0 : 1);
        switch (end.said.empty() ? Message() : static_cast<Message>(end.said[0])) {
            case Message::recording: return read(said);
            case Message::words: fail("{}", said);
            case Message::sentence: throw Error(Fault::program, std::string(said));
            case Message::crash: fail_by(said);
            case Message::refusal: fail_by_refusal(std::string(said));
        }
        if (end.signal != 0) {
            fail("the kernel's process was ended by signal {} ({}){}", end.signal,
                 strsignal(end.signal), last_instruction());
        }
        fail("the kernel ends its process, with exit status {}{}", end.status, last_instruction());
    }

private:
    template <class... Args>
    [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
        const std::int64_t generation = progress_.generation;
        throw Error(Fault::program,
                    fmt::format("{}, {}{}: {}", run_.callee->path, run_.who(),
                                generation == 0 ? "" : fmt::format(", generation {}", generation),
                                fmt::format(format, std::forward<Args>(args)...)));
    }

    // The kernel can have overwritten where it ends.
    template <std::size_t kSize>
    static std::string_view within(const char (&text)[kSize]) {
        return {text, strnlen(text, kSize)};
    }

    std::string last_instruction() const {
        if (progress_.operations == 0) return "; it issued no instruction";
        return fmt::format("; its last instruction was {} ({}:{}), number {}",
                           within(progress_.name),
                           std::filesystem::path(within(progress_.file)).filename().string(),
                           progress_.line, progress_.operations);
    }

    // The kernel can write into the channel, too: nothing is believed.
    Recording read(std::string_view text) const {
        Scanner scanner(text, [this] { refuse_report(); });
        std::uint64_t counts[5];
        scanner.take(counts, sizeof(counts));
        if (counts[0] > run_.options.max_operations || counts[1] > text.size() || counts[2] < 1 ||
            counts[2] > kMaxLanes || counts[3] < 1 || counts[3] > kMostTracedTurns ||
            counts[4] > 2 * counts[0]) {
            refuse_report();
        }
        Recording recording;
        recording.blocks = static_cast<std::int32_t>(counts[2]);
        recording.operations.resize(counts[0]);
        scanner.take(recording.operations.data(), counts[0] * sizeof(Recorded));
        recording.turns = static_cast<std::uint32_t>(counts[3]);
        recording.places.resize(counts[4]);
        for (auto& list : recording.places) {
            list.resize(recording.turns);
            scanner.take(list.data(), list.size() * sizeof(list[0]));
        }
        for (std::uint64_t i = 0; i < counts[1]; ++i) {
            recording.files.emplace_back(scanner.word());
        }
        for (Recorded& one : recording.operations) {
            if (!makes_sense(one, recording.files.size())) refuse_report();
            for (const std::uint32_t place : one.places) {
                if (place > recording.places.size()) refuse_report();
            }
            one.operation.name = interned(scanner.word());
            one.operation.file = nullptr;
        }
        if (!scanner.is_at_end()) refuse_report();
        return recording;
    }

    [[noreturn]] void refuse_report() const {
        fail(
            "what its process reports makes no sense: does the kernel write to descriptors that "
            "it has not opened?");
    }

    static bool makes_sense(const Recorded& one, std::size_t files) {
        // Bytes that are none of these would be no values of their types.
        const auto is_up_to = [](const auto& value, auto last) {
            unsigned char byte = 0;
            static_assert(sizeof(value) == sizeof(byte));
            std::memcpy(&byte, &value, sizeof(byte));
            return byte <= static_cast<unsigned char>(last);
        };
        const device::Operation& operation = one.operation;
        return is_up_to(operation.op, device::kLastOp) && one.file < files &&
               std::all_of(std::begin(operation.tile), std::end(operation.tile),
                           [&](const device::TileOperand& tile) {
                               return is_up_to(tile.is_assigned, 1) &&
                                      is_up_to(tile.type, device::Type::u8);
                           }) &&
               std::all_of(std::begin(operation.memory), std::end(operation.memory),
                           [&](const device::MemoryOperand& memory) {
                               return is_up_to(memory.type, device::Type::u8);
                           });
    }

    // Instructions have a few dozen names.
    static const char* interned(std::string_view name) {
        static std::map<std::string, int, std::less<>> names;
        auto found = names.find(name);
        if (found == names.end()) found = names.emplace(std::string(name), 0).first;
        return found->first.c_str();
    }

    [[noreturn]] void fail_by(std::string_view said) const {
        Crash crash;
        if (said.size() != sizeof(crash)) refuse_report();
        std::memcpy(&crash, said.data(), sizeof(crash));
        if (crash.frame_count < 0 || crash.frame_count > Crash::kMaxFrames) refuse_report();
        const std::size_t libraries =
            run_.callee->kernels.size() + (run_.callee->shim.empty() ? 0 : 1);
        for (const std::uint32_t number : crash.libraries) {
            if (number >= libraries) refuse_report();
        }
        const bool touched = crash.signal == SIGSEGV || crash.signal == SIGBUS;
        const auto location = touched ? run_.addresses->find(crash.address) : std::nullopt;
        const std::string frames = backtrace_of(crash);
        if (touched && crash.argument >= 0) {
            fail("the kernel reads args[{}], which is missing: {}; list what it takes with --arg{}",
                 crash.argument, given_text(run_.frame->arguments), frames);
        }
        if (const std::string taken = touched && !location ? taken_for_pointer(crash.address) : "";
            !taken.empty()) {
            fail(
                "the kernel touches address {:#x}, where nothing is; if it took {} for an address, "
                "an "
                "argument is missing or in another place: {}{}",
                crash.address, taken, given_text(run_.frame->arguments), frames);
        }
        if (!location) {
            const std::string where =
                touched ? fmt::format(" at address {:#x}", crash.address) : std::string();
            fail("the kernel crashes: signal {} ({}){}{}{}", crash.signal, strsignal(crash.signal),
                 where, last_instruction(), frames);
        }
        const std::string_view verb = crash.access == 0   ? "reads"
                                      : crash.access == 1 ? "writes"
                                                          : "touches";
        fail(
            "not traceable: the kernel itself {} {}; data may be touched by instructions only, and "
            "may not decide what is done{}",
            verb, text_of(*location, 1, run_.layout()), frames);
    }

    // The line that returns the code says why.
    [[noreturn]] void fail_by_refusal(const std::string& code) const {
        const Source source(run_.callee->path, base::read_text(run_.callee->path, kMostTextBytes));
        const std::string& text = source.text();
        const std::size_t check = text.find("kernel_check(");
        const std::size_t at = text.find(fmt::format("return {};", code), check);
        Span where;
        if (check != std::string::npos && at != std::string::npos) {
            const auto end = text.begin() + static_cast<std::ptrdiff_t>(at);
            where.line = 1 + static_cast<std::uint32_t>(std::count(text.begin(), end, '\n'));
            where.column = 1;
        }
        throw RequirementError(
            {{Diagnostic::Severity::error, where,
              fmt::format("rank {} of {}: kernel_check refuses these arguments with {}", run_.rank,
                          run_.nranks, code),
              ""}},
            &source);
    }

    // Numbers among the arguments at which something that ends with this address could begin.
    std::string taken_for_pointer(std::uint64_t address) const {
        constexpr std::uint64_t kLargest = 4096;  // of what arguments point to
        std::vector<std::string> words;
        for (std::size_t i = 0; i < run_.frame->arguments.size(); ++i) {
            const auto value = number_at(run_, i, progress_.generation);
            if (!value || address - static_cast<std::uint64_t>(*value) >= kLargest) continue;
            const Parameter::Kind kind = run_.frame->arguments[i].kind;
            words.push_back(fmt::format("args[{}] ({} {})", i, name(kind), *value));
        }
        return fmt::format("{}", fmt::join(words, " or "));
    }

    // The lines that led there, innermost first.
    std::string backtrace_of(const Crash& crash) const {
        const bool can_tell = !find_program("addr2line").empty();
        std::string text;
        for (int i = 0; i < crash.frame_count; ++i) {
            // A return address is behind its call.
            const std::uint64_t address = crash.frames[i] - (i > 0 ? 1 : 0);
            if (!can_tell) {
                text += fmt::format("\n    kernel+{:#x}", crash.frames[i]);
                continue;
            }
            const std::string said =
                run_program({"addr2line", "-Cfpse", library(crash.libraries[i]),
                             fmt::format("{:#x}", address)})
                    .output;
            std::istringstream lines(said);
            for (std::string line; std::getline(lines, line);) text += "\n    " + line;
        }
        return text;
    }
    const std::string& library(std::size_t number) const {
        const Callee& callee = *run_.callee;
        return number < callee.kernels.size() ? callee.kernels[number].library : callee.shim;
    }

    const KernelRun& run_;
    const Progress& progress_;
};

}  // namespace

Recording record(const KernelRun& run) {
    const SharedProgress progress;
    // A kernel that writes over its progress does not get more time than all its calls may take.
    const auto calls = static_cast<int>(run.generations.size()) + 1;
    const auto last = ChildClock::now() + calls * run.options.timeout;
    const ChildLimits limits{
        [&] { return std::min(progress->began.load() + run.options.timeout, last); },
        SpeechLimit(run.options.max_operations)};
    const ChildEnd end =
        run_in_child([&](int descriptor) { Child(run, descriptor, *progress).trace(); }, limits);
    return Listener(run, *progress).recording(end);
}

namespace {

// What is wrong with a library; empty: nothing.
using Inspect = std::function<std::string(void* library)>;

void require(const std::string& source, const std::string& library,
             std::chrono::milliseconds timeout, const Inspect& inspect) {
    constexpr std::string_view kFine = "fine";
    const auto look = [&](int descriptor) {
        void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
        const std::string wrong =
            handle ? inspect(handle) : fmt::format("cannot be loaded: {}", dlerror());
        const std::string_view answer = wrong.empty() ? kFine : std::string_view(wrong);
        say(descriptor, answer.data(), answer.size());
        _exit(0);
    };
    const auto deadline = ChildClock::now() + timeout;
    const ChildEnd end = run_in_child(look, {[&] { return deadline; }, SpeechLimit(0)});
    if (end.said == kFine && !end.timed_out) return;
    const auto reason = [&]() -> std::string {
        if (end.timed_out) {
            return fmt::format(
                "cannot be loaded: its start-up code does not return: it was stopped after {} ms",
                timeout.count());
        }
        if (end.said_too_much) return "cannot be loaded: its start-up code floods the tracer";
        if (!end.said.empty()) return end.said;
        return "cannot be loaded: its start-up code ends the process";
    };
    throw Error(Fault::program, fmt::format("{} {}", source, reason()));
}

// Of the headers that it was compiled with; nothing if it uses none.
std::optional<std::uint32_t> version_of(void* library, const char* name) {
    using Version = std::uint32_t (*)();
    const auto version = reinterpret_cast<Version>(dlsym(library, name));
    return version ? std::optional(version()) : std::nullopt;
}

}  // namespace

void require_entry(const std::string& kernel, const std::string& library,
                   std::chrono::milliseconds timeout) {
    require(kernel, library, timeout, [](void* handle) -> std::string {
        if (!dlsym(handle, "kernel_entry")) {
            return "has no entry: expected extern \"C\" void kernel_entry(int64_t* args)";
        }
        const auto version = version_of(handle, "peal_pto_version");
        if (!version) return "uses no PTO instruction: include pto/pto-inst.hpp";
        return *version == device::kVersion ? "" : "was compiled with other PTO headers";
    });
}

void require_shim(const std::string& shim, const std::string& library,
                  std::chrono::milliseconds timeout) {
    require(shim, library, timeout, [](void* handle) -> std::string {
        const auto version = version_of(handle, "peal_orchestration_version");
        if (!version) return "submits no kernel: include pto_orchestration_api.h";
        return *version == shim::kVersion ? "" : "was compiled with other orchestration headers";
    });
}

}  // namespace peal::pto
