// SPDX-License-Identifier: Apache-2.0
#include "engine/in_process.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <cstring>
#include <utility>

#include "peal/error.hpp"

namespace peal::engine {

void Unmap::operator()(std::byte* pages) const { munmap(pages, bytes); }

}  // namespace peal::engine

namespace peal {
namespace {

constexpr std::uint64_t kSmallestCell = sizeof(std::int32_t);

[[noreturn]] void throw_no_memory(int nranks, std::uint64_t bytes, int reason) {
    throw Error(Fault::resource, fmt::format("symmetric memory: {} ranks of {} bytes each: {}",
                                             nranks, bytes, std::strerror(reason)));
}

std::uint64_t page_bytes() { return static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)); }

// At least one page per rank, so that every rank's part has an address of its own.
std::uint64_t stride_for(int nranks, std::uint64_t bytes) {
    const std::uint64_t page = page_bytes();
    const std::uint64_t pages = bytes / page + (bytes % page != 0 || bytes == 0 ? 1 : 0);
    std::uint64_t total = 0;
    if (__builtin_mul_overflow(pages, page * static_cast<std::uint64_t>(nranks), &total)) {
        throw_no_memory(nranks, bytes, ENOMEM);
    }
    return pages * page;
}

engine::Pages map_pages(int nranks, std::uint64_t bytes, std::uint64_t stride) {
    const std::size_t total = stride * static_cast<std::uint64_t>(nranks);
    void* pages = mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw_no_memory(nranks, bytes, errno);
    return engine::Pages(static_cast<std::byte*>(pages), engine::Unmap{total});
}

void require_ranks(int nranks) {
    if (nranks >= 1) return;
    throw Error(Fault::usage,
                fmt::format("symmetric memory: expected at least 1 rank, found {}", nranks));
}

}  // namespace

SymmetricMemory SymmetricMemory::window(int nranks, std::uint64_t bytes) {
    require_ranks(nranks);
    auto state = std::make_unique<State>();
    state->nranks = nranks;
    state->kind = BufferKind::window;
    state->bytes = bytes;
    state->rank_stride = stride_for(nranks, bytes);
    state->pages = map_pages(nranks, bytes, state->rank_stride);
    return SymmetricMemory(std::move(state));
}

SymmetricMemory SymmetricMemory::signal(int nranks, std::uint64_t cells,
                                        std::uint64_t cell_stride) {
    require_ranks(nranks);
    if (cell_stride == 0 || cell_stride % kSmallestCell != 0) {
        throw Error(Fault::usage,
                    fmt::format("symmetric memory: expected a cell stride that is a multiple of {} "
                                "bytes, found {}",
                                kSmallestCell, cell_stride));
    }
    std::uint64_t bytes = 0;
    if (__builtin_mul_overflow(cells, cell_stride, &bytes)) throw_no_memory(nranks, cells, ENOMEM);
    SymmetricMemory memory = window(nranks, bytes);
    memory.state_->kind = BufferKind::signal;
    memory.state_->cell_stride = cell_stride;
    return memory;
}

SymmetricMemory::SymmetricMemory(std::unique_ptr<State> state) : state_(std::move(state)) {}
SymmetricMemory::SymmetricMemory(SymmetricMemory&&) noexcept = default;
SymmetricMemory& SymmetricMemory::operator=(SymmetricMemory&&) noexcept = default;
SymmetricMemory::~SymmetricMemory() = default;

int SymmetricMemory::nranks() const { return state_->nranks; }
BufferKind SymmetricMemory::kind() const { return state_->kind; }
std::uint64_t SymmetricMemory::bytes() const { return state_->bytes; }
std::int64_t SymmetricMemory::generation() const { return state_->generation; }

std::byte* SymmetricMemory::on(int rank) const {
    assert(rank >= 0 && rank < state_->nranks);
    return state_->pages.get() + static_cast<std::uint64_t>(rank) * state_->rank_stride;
}

}  // namespace peal
