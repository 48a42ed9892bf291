// SPDX-License-Identifier: Apache-2.0
// Kernels that tests write themselves, in a folder that goes away.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "peal/error.hpp"
#include "peal/pto.hpp"

namespace peal::pto {

inline constexpr const char* kKernelHead = R"(#include "pto/pto-inst.hpp"
#include "pto/comm/pto_comm_inst.hpp"
#include "platform_comm/comm_context.h"
#include "pipe_sync.h"
#include "tensor.h"
using namespace pto;
using namespace pto::comm;
template <class T> T* pointer(int64_t argument) {
    auto* tensor = reinterpret_cast<ChipTensor*>(argument);
    return reinterpret_cast<T*>(tensor->buffer.addr) + tensor->start_offset;
}
template <class T> T* remote(const CommContext* context, T* p, int peer) {
    return reinterpret_cast<T*>(context->windowsIn[peer] + reinterpret_cast<uint64_t>(p) -
                                context->windowsIn[context->rankId]);
}
)";
inline constexpr int kKernelHeadLines = 15;  // the next line is the first one behind it

class KernelFolder {
public:
    KernelFolder() {
        std::string pattern = std::filesystem::temp_directory_path() / "peal-pto-XXXXXX";
        path_ = mkdtemp(pattern.data());
        setenv("PEAL_CACHE", (path_ / "cache").c_str(), 1);
    }
    ~KernelFolder() { std::filesystem::remove_all(path_); }
    KernelFolder(const KernelFolder&) = delete;
    KernelFolder& operator=(const KernelFolder&) = delete;

    std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(path_ / name) << text;
        return path_ / name;
    }
    // A kernel of which only the body is of interest.
    std::string write_body(const std::string& body, const std::string& name = "kernel.cpp") const {
        return write(name, std::string(kKernelHead) +
                               "extern \"C\" void kernel_entry(int64_t* args) {\n" + body +
                               "\n}\n");
    }
    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

// The first line of a body that write_body() wraps.
inline constexpr int kBodyLine = kKernelHeadLines + 2;

// What the action throws, with the folder's name left out; "" if it throws nothing.
template <class Act>
std::string error_of(const KernelFolder& folder, Act&& act) {
    try {
        act();
    } catch (const Error& error) {
        std::string text = error.what();
        const std::string prefix = folder.path().string() + "/";
        for (std::size_t at = 0; (at = text.find(prefix)) != std::string::npos;) {
            text.erase(at, prefix.size());
        }
        return text;
    }
    return {};
}

}  // namespace peal::pto
