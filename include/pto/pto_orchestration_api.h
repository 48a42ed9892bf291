// SPDX-License-Identifier: Apache-2.0
// What an orchestration shim uses: it takes the arguments of a chip task and submits kernels with
// them, as core tasks. Peal carries the core tasks of a chip task out one after the other.
#pragma once

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <type_traits>

#include "tensor.h"

// ---------------------------------------------------------------------------- Peal's side

namespace pto::orchestration {

// Changes with the layout of what follows.
inline constexpr std::uint32_t kVersion = 2;

// A place in the shim's source. As a default argument, current() is where the call stands.
struct Where {
    const char* file;
    std::uint32_t line;

    static constexpr Where current(const char* file = __builtin_FILE(),
                                   std::uint32_t line = __builtin_LINE()) {
        return {file, line};
    }
};

// One kernel launch.
struct Submission {
    std::int32_t function = 0;
    const ChipTensor* const* tensors = nullptr;
    std::uint32_t tensor_count = 0;
    const std::uint64_t* scalars = nullptr;
    std::uint32_t scalar_count = 0;
    std::int32_t blocks = 1;
    Where where;
};

// Whoever runs the shim. `refuse` does not return: the shim asks for something that is not there,
// or has reported a fatal error.
struct Host {
    void (*submit)(const Submission& submission) = nullptr;
    // An address.
    std::uint64_t (*create)(std::uint64_t bytes, DataType type, const Where& where) = nullptr;
    void (*refuse)(const char* words, const Where& where) = nullptr;
};

inline Host& host() {
    static Host host;
    return host;
}

}  // namespace pto::orchestration

extern "C" {
__attribute__((used, visibility("default"))) inline std::uint32_t peal_orchestration_version() {
    return pto::orchestration::kVersion;
}
__attribute__((used, visibility("default"))) inline void peal_orchestration_attach(
    pto::orchestration::Host host) {
    pto::orchestration::host() = host;
}
}

// ---------------------------------------------------------------------------- what a task is given

struct PTO2OrchestrationConfig {
    int expected_arg_count;
};

// A tensor among the arguments.
struct ChipTensorArg : ChipTensor {
    const ChipTensor& ref() const { return *this; }
};
static_assert(sizeof(ChipTensorArg) == sizeof(ChipTensor));

class ChipTaskArgs {
public:
    ChipTaskArgs(const ChipTensorArg* tensors, std::uint32_t tensor_count,
                 const std::uint64_t* scalars, std::uint32_t scalar_count)
        : tensors_(tensors),
          scalars_(scalars),
          tensor_count_(tensor_count),
          scalar_count_(scalar_count) {}

    const ChipTensorArg& tensor(int i, const pto::orchestration::Where& where =
                                           pto::orchestration::Where::current()) const {
        if (i < 0 || static_cast<std::uint32_t>(i) >= tensor_count_) missing("tensor", i, where);
        return tensors_[i];
    }
    std::uint64_t scalar(int i, const pto::orchestration::Where& where =
                                    pto::orchestration::Where::current()) const {
        if (i < 0 || static_cast<std::uint32_t>(i) >= scalar_count_) missing("scalar", i, where);
        return scalars_[i];
    }
    int tensor_count() const { return static_cast<int>(tensor_count_); }
    int scalar_count() const { return static_cast<int>(scalar_count_); }

private:
    void missing(const char* what, int i, const pto::orchestration::Where& where) const {
        char words[128];
        std::snprintf(words, sizeof(words),
                      "the shim asks for %s %d; the task was given %u tensors and %u scalars", what,
                      i, tensor_count_, scalar_count_);
        pto::orchestration::host().refuse(words, where);
    }

    const ChipTensorArg* tensors_;
    const std::uint64_t* scalars_;
    std::uint32_t tensor_count_, scalar_count_;
};

// Its names in older shims, where a tensor is taken from an argument by value.
using ChipStorageTaskArgs = ChipTaskArgs;
using L2TaskArgs = ChipTaskArgs;
inline ChipTensor from_tensor_arg(const ChipTensor& tensor, bool manual_dep = false,
                                  std::int32_t version = 0) {
    ChipTensor copy = tensor;
    copy.manual_dep = manual_dep ? 1 : 0;
    copy.version = version;
    return copy;
}

// ---------------------------------------------------------------------------- what a kernel is
// given

// A tensor that the runtime makes; it holds anything until it is written.
class TensorCreateInfo {
public:
    TensorCreateInfo(const std::uint32_t shapes[], std::uint32_t ndims,
                     DataType dtype = DataType::FLOAT32, bool manual_dep = false,
                     const pto::orchestration::Where& where = pto::orchestration::Where::current())
        : tensor_{}, where_(where) {
        tensor_.dtype = dtype;
        tensor_.manual_dep = manual_dep ? 1 : 0;
        tensor_.address_space = AddressSpace::DEVICE;
        tensor_.be_row_major(shapes, ndims);
    }

    template <class T>
    void set_initial_value(T /*value*/, const pto::orchestration::Where& where =
                                            pto::orchestration::Where::current()) {
        pto::orchestration::host().refuse(
            "a tensor that is created with a value is not supported; write it with a kernel",
            where);
    }

    ChipTensor make() const {
        ChipTensor made = tensor_;
        made.buffer.size = made.nbytes();
        made.buffer.addr = pto::orchestration::host().create(made.buffer.size, made.dtype, where_);
        return made;
    }

private:
    ChipTensor tensor_;
    pto::orchestration::Where where_;
};

struct PTO2TaskId {
    std::uint64_t raw = 0;
    bool is_valid() const { return raw != 0; }
    static PTO2TaskId invalid() { return {}; }
};

class TaskOutputTensors {
public:
    static constexpr std::uint32_t kMost = 32;

    std::uint32_t size() const { return count_; }
    bool empty() const { return count_ == 0; }
    const ChipTensor& get_ref(std::uint32_t i) const& { return made_[i]; }
    const ChipTensor& get_ref(std::uint32_t i) const&& = delete;
    PTO2TaskId task_id() const { return id_; }

    ChipTensor& add(const ChipTensor& tensor) { return made_[count_++] = tensor; }
    void be(PTO2TaskId id) { id_ = id; }

private:
    ChipTensor made_[kMost];
    std::uint32_t count_ = 0;
    PTO2TaskId id_;
};

// The arguments of a core task: tensors, then scalars, in the order in which the kernel gets them.
// The tensors themselves must live until the task is submitted.
class CoreTaskArgs {
public:
    static constexpr std::uint32_t kMostTensors = 32;
    static constexpr std::uint32_t kMostScalars = 16;

    struct LaunchSpec {
        std::int32_t block_num = 1;
        bool require_sync_start = false;

        void set_block_num(std::int32_t count) { block_num = count; }
        void set_require_sync_start(bool required) { require_sync_start = required; }
    } launch_spec;

    bool has_error = false;
    const char* error_msg = nullptr;

    CoreTaskArgs() = default;
    CoreTaskArgs(const CoreTaskArgs&) = delete;
    CoreTaskArgs& operator=(const CoreTaskArgs&) = delete;

    template <class... T>
    void add_input(T&... tensors) {
        (add(tensors), ...);
    }
    template <class... T>
    void add_output(T&... tensors) {
        (add(tensors), ...);
    }
    template <class... T>
    void add_inout(T&... tensors) {
        (add(tensors), ...);
    }
    template <class... T>
    void add_no_dep(T&... tensors) {
        (add(tensors), ...);
    }
    template <class... T>
    void add_scalar(T... values) {
        (add_bits(to_u64(values)), ...);
    }
    void add_scalars(const std::uint64_t* values, std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i) add_bits(values[i]);
    }
    void add_scalars_i32(const std::int32_t* values, std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i) add_bits(to_u64(values[i]));
    }
    void copy_scalars_from(const CoreTaskArgs& other, std::uint32_t from, std::uint32_t count) {
        if (from + count > other.scalar_count_)
            return fail("scalars are copied that are not there");
        add_scalars(other.scalars_ + from, count);
    }
    void clear() {
        tensor_count_ = scalar_count_ = 0;
        has_error = false;
        error_msg = nullptr;
        launch_spec = {};
    }
    void reset() { clear(); }
    // Core tasks run one after the other, in the order in which they were submitted.
    void set_dependencies(const PTO2TaskId* /*ids*/, std::uint32_t /*count*/) {}
    void set_allow_early_resolve(bool /*allowed*/) {}

    TaskOutputTensors submit(std::int32_t function, const pto::orchestration::Where& where) const {
        static std::uint64_t last = 0;
        pto::orchestration::Host& host = pto::orchestration::host();
        if (has_error) host.refuse(error_msg, where);
        TaskOutputTensors made;
        const ChipTensor* list[kMostTensors];
        for (std::uint32_t i = 0; i < tensor_count_; ++i) {
            const Slot& slot = slots_[i];
            list[i] = slot.tensor ? slot.tensor : &made.add(slot.create->make());
        }
        pto::orchestration::Submission task;
        task.function = function;
        task.tensors = list;
        task.tensor_count = tensor_count_;
        task.scalars = scalars_;
        task.scalar_count = scalar_count_;
        task.blocks = launch_spec.block_num;
        task.where = where;
        host.submit(task);
        made.be({++last});
        return made;
    }

private:
    struct Slot {
        const ChipTensor* tensor;
        const TensorCreateInfo* create;
    };

    void add(const ChipTensor& tensor) { add(Slot{&tensor, nullptr}); }
    void add(const TensorCreateInfo& info) { add(Slot{nullptr, &info}); }
    void add(const Slot& slot) {
        if (scalar_count_ > 0) return fail("a tensor is added after a scalar");
        if (tensor_count_ == kMostTensors) return fail("a core task has at most 32 tensors");
        slots_[tensor_count_++] = slot;
    }
    void add_bits(std::uint64_t bits) {
        if (scalar_count_ == kMostScalars) return fail("a core task has at most 16 scalars");
        scalars_[scalar_count_++] = bits;
    }
    void fail(const char* words) {
        has_error = true;
        if (!error_msg) error_msg = words;
    }

    Slot slots_[kMostTensors];
    std::uint64_t scalars_[kMostScalars];
    std::uint32_t tensor_count_ = 0, scalar_count_ = 0;
};

// With dependencies of its own, which the order of submission satisfies.
template <std::uint32_t N = 16>
class CoreTaskArgsWithDeps : public CoreTaskArgs {
public:
    template <class... Ids>
    void add_dep(Ids... /*ids*/) {}
    template <class... Ids>
    void add_dep_wait(Ids... /*ids*/) {}
};

using Arg = CoreTaskArgs;  // its names in older shims
using L0TaskArgs = CoreTaskArgs;

// ---------------------------------------------------------------------------- what a shim does

// Kernel `function` of the chip callable, on a vector core.
inline TaskOutputTensors rt_submit_aiv_task(
    std::int32_t function, const CoreTaskArgs& args,
    const pto::orchestration::Where& where = pto::orchestration::Where::current()) {
    return args.submit(function, where);
}

// On the cube, which Peal does not have.
inline TaskOutputTensors rt_submit_aic_task(
    std::int32_t /*function*/, const CoreTaskArgs& /*args*/,
    const pto::orchestration::Where& where = pto::orchestration::Where::current()) {
    pto::orchestration::host().refuse(
        "rt_submit_aic_task: the cube is not supported; rt_submit_aiv_task takes a kernel for a "
        "vector core",
        where);
    return {};
}

// Kernels that run together on the cores of a block; -1: none. Peal has one vector core.
struct MixedKernels {
    std::int32_t aic_kernel_id = -1;
    std::int32_t aiv0_kernel_id = -1;
    std::int32_t aiv1_kernel_id = -1;
};
inline TaskOutputTensors rt_submit_task(
    const MixedKernels& kernels, const CoreTaskArgs& args,
    const pto::orchestration::Where& where = pto::orchestration::Where::current()) {
    if (kernels.aic_kernel_id >= 0 || kernels.aiv1_kernel_id >= 0) {
        pto::orchestration::host().refuse(
            "several kernels in one task are not supported: expected aiv0_kernel_id alone", where);
    }
    return args.submit(kernels.aiv0_kernel_id, where);
}

// Order only, which tasks have anyway.
inline TaskOutputTensors rt_submit_dummy_task(const CoreTaskArgs& /*args*/) { return {}; }

// Tensors without a kernel.
template <class... Infos>
TaskOutputTensors alloc_tensors(const Infos&... infos) {
    TaskOutputTensors made;
    static_assert(sizeof...(infos) <= TaskOutputTensors::kMost);
    (made.add(infos.make()), ...);
    return made;
}

inline ChipTensor make_tensor_external(void* address, const std::uint32_t shapes[],
                                       std::uint32_t ndims, DataType dtype = DataType::FLOAT32,
                                       bool manual_dep = false, std::int32_t version = 0,
                                       AddressSpace space = AddressSpace::HOST) {
    ChipTensor tensor{};
    tensor.buffer.addr = reinterpret_cast<std::uint64_t>(address);
    tensor.dtype = dtype;
    tensor.manual_dep = manual_dep ? 1 : 0;
    tensor.version = version;
    tensor.address_space = space;
    tensor.be_row_major(shapes, ndims);
    tensor.buffer.size = tensor.nbytes();
    return tensor;
}

// Data does not exist when a plan is made.
template <class T = std::uint64_t>
T get_tensor_data(const ChipTensor& /*tensor*/, std::uint32_t /*ndims*/,
                  const std::uint32_t /*indices*/[],
                  const pto::orchestration::Where& where = pto::orchestration::Where::current()) {
    pto::orchestration::host().refuse("not traceable: get_tensor_data reads what a tensor holds",
                                      where);
    return T();
}

template <class T>
void set_tensor_data(
    const ChipTensor& /*tensor*/, std::uint32_t /*ndims*/, const std::uint32_t /*indices*/[],
    T /*value*/, const pto::orchestration::Where& where = pto::orchestration::Where::current()) {
    pto::orchestration::host().refuse("not traceable: set_tensor_data writes into a tensor", where);
}

// A block: memory that is created in it may go at its end.
enum class PTO2ScopeMode { AUTO, MANUAL };
#define PTO2_SCOPE(...) if (true)
#define PTO2_SCOPE_GUARD(...) static_cast<void>(0)

inline constexpr int PTO2_ERROR_INVALID_ARGS = 5;
inline constexpr int PTO2_ERROR_EXPLICIT_ORCH_FATAL = 9;

// Ends the chip task with an error.
inline void report_fatal(const pto::orchestration::Where& where, int code, const char* format,
                         ...) {
    char words[512];
    const int begun =
        std::snprintf(words, sizeof(words), "the shim reports fatal error %d: ", code);
    std::va_list list;
    va_start(list, format);
    std::vsnprintf(words + begun, sizeof(words) - static_cast<std::size_t>(begun), format, list);
    va_end(list);
    pto::orchestration::host().refuse(words, where);
}
#define rt_report_fatal(...) report_fatal(pto::orchestration::Where::current(), __VA_ARGS__)

// Said by every rank of every trace: nobody listens.
inline void log_nothing(const char* /*format*/, ...) {}
#define LOG_ERROR(...) log_nothing(__VA_ARGS__)
#define LOG_WARN(...) log_nothing(__VA_ARGS__)
#define LOG_TIMING(...) log_nothing(__VA_ARGS__)
#define LOG_INFO(...) log_nothing(__VA_ARGS__)
#define LOG_DEBUG(...) log_nothing(__VA_ARGS__)
