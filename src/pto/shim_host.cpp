// SPDX-License-Identifier: Apache-2.0
#include "pto/shim_host.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace peal::pto {
namespace {

namespace shim = ::pto::orchestration;

constexpr std::size_t kArgumentSlots = 50;                  // of a kernel that a shim launches
constexpr std::uint64_t kNowhere = std::uint64_t{1} << 46;  // addresses of tensors to come

}  // namespace

ShimHost* ShimHost::self_ = nullptr;

ShimHost::ShimHost(const KernelRun& run, const Library& library, const Messenger& messenger,
                   ShimLaunch& at, Launch launch)
    : run_(run), library_(library), messenger_(messenger), at_(at), launch_(std::move(launch)) {
    self_ = this;
}

void ShimHost::call(const ArgumentList& given, const std::vector<ChipTensor>& descriptors) {
    using Attach = void (*)(shim::Host);
    using Run = void (*)(const ChipTaskArgs&);
    at_.number = 0;
    at_.created.clear();
    std::vector<ChipTensorArg> tensors;
    std::vector<std::uint64_t> scalars;
    for (std::size_t i = 0; i < run_.frame->arguments.size(); ++i) {
        if (run_.frame->arguments[i].is_tensor()) {
            static_cast<ChipTensor&>(tensors.emplace_back()) = descriptors[i];
        } else {
            scalars.push_back(static_cast<std::uint64_t>(given.data()[i]));
        }
    }
    const ChipTaskArgs arguments(tensors.data(), static_cast<std::uint32_t>(tensors.size()),
                                 scalars.data(), static_cast<std::uint32_t>(scalars.size()));
    library_.symbol<Attach>("peal_orchestration_attach")(
        {[](const shim::Submission& task) { self_->submit(task); },
         [](std::uint64_t bytes, DataType type, const shim::Where& where) {
             return self_->create(bytes, type, where);
         },
         [](const char* words, const shim::Where& where) { self_->refuse(where, words); }});
    expect_arguments(arguments);
    const std::string& entry = run_.callee->entry;
    const auto run = library_.symbol<Run>(entry.c_str());
    if (!run) messenger_.end(Message::words, fmt::format("the shim has no function {}", entry));
    run(arguments);
}

// As many as the shim says that it takes, if it says so.
void ShimHost::expect_arguments(const ChipTaskArgs& arguments) const {
    using Config = PTO2OrchestrationConfig (*)(const ChipTaskArgs&);
    const std::string& name = run_.callee->config;
    const auto config = library_.symbol<Config>(name.c_str());
    if (!config) return;
    const int expected = config(arguments).expected_arg_count;
    const auto given = static_cast<int>(run_.frame->arguments.size());
    if (expected <= given) return;
    messenger_.end(Message::words,
                   fmt::format("{} expects {} arguments, found {}", name, expected, given));
}

void ShimHost::submit(const shim::Submission& task) {
    const std::vector<Callee::Kernel>& kernels = run_.callee->kernels;
    const auto found = std::find_if(
        kernels.begin(), kernels.end(),
        [&](const Callee::Kernel& kernel) { return kernel.function == task.function; });
    if (found == kernels.end()) {
        refuse(task.where, fmt::format("the chip callable has no kernel {}", task.function));
    }
    if (task.blocks < 1 || task.blocks > kMaxLanes) {
        refuse(task.where, fmt::format("a kernel is launched on 1 to {} blocks, found {}",
                                       kMaxLanes, task.blocks));
    }
    if (at_.number > 0 && (task.blocks > 1 || at_.blocks > 1)) {
        refuse(task.where, "a kernel on several blocks must be the only one of its chip task");
    }
    at_.blocks = task.blocks;
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
    launch_(static_cast<std::size_t>(found - kernels.begin()), arguments.data());
    ++at_.number;
}

// Memory of this size may be there. If it is not, the recording says what is missing, and any
// address will do until then.
std::uint64_t ShimHost::create(std::uint64_t bytes, DataType type, const shim::Where& where) {
    if (at_.created.size() == kMostCreated) {
        refuse(where, fmt::format("a shim creates at most {} tensors", kMostCreated));
    }
    if (bytes == 0 || bytes > kMostCreatedBytes) {
        refuse(where, fmt::format("a created tensor has 1 to {} bytes, found {}", kMostCreatedBytes,
                                  bytes));
    }
    const auto element = std::find_if(kElements.begin(), kElements.end(),
                                      [&](Element each) { return type_of(each) == type; });
    if (element == kElements.end()) {
        refuse(where,
               fmt::format("a tensor of type {} cannot be created: Peal has no such elements",
                           static_cast<int>(type)));
    }
    at_.created.push_back({bytes, *element});
    const std::size_t place = run_.layout().created_at + at_.created.size() - 1;
    const std::vector<Placed>& placed = run_.layout().placed;
    if (place < placed.size()) {
        if (placed[place].bytes != bytes) {
            refuse(where,
                   fmt::format("the shim creates a tensor of {} bytes here, and of {} before",
                               bytes, placed[place].bytes));
        }
        return run_.addresses->address(placed[place]);
    }
    return kNowhere + at_.created.size() * kMostCreatedBytes;
}

void ShimHost::refuse(const shim::Where& where, const std::string& words) const {
    messenger_.end(
        Message::sentence,
        fmt::format("{}:{}, {}: {}", std::filesystem::path(where.file).filename().string(),
                    where.line, run_.who(), words));
}

}  // namespace peal::pto
