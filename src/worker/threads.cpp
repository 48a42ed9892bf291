// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include <fmt/format.h>

#include "base/thread.hpp"
#include "peal/error.hpp"
#include "worker/device.hpp"
#include "worker/device_crew.hpp"

namespace peal::worker {
namespace {

class Threads : public DeviceCrew {
public:
    Threads(const Arena& arena, int host_bell) : arena_(arena) {
        try {
            for (int rank = 0; rank < arena.devices(); ++rank) {
                threads_.push_back(base::start_thread(
                    fmt::format("device {} of {} as a thread", rank, arena.devices()),
                    [&arena, rank, host_bell] { Device(arena, rank, host_bell).run(); }));
            }
        } catch (const Error&) {
            dismiss();
            throw;
        }
    }
    ~Threads() override { dismiss(); }

    std::vector<int> descriptors() const override { return {}; }
    std::string how_it_ended(int /*rank*/) override { return {}; }
    int process_of(int /*rank*/) const override { return 0; }
    void end(shm::Clock::time_point /*deadline*/) override { dismiss(); }

private:
    void dismiss() {
        for (std::size_t rank = 0; rank < threads_.size(); ++rank) {
            arena_.device(static_cast<int>(rank)).leave.store(1, std::memory_order_relaxed);
            arena_.world().wake(static_cast<int>(rank));
        }
        for (std::thread& thread : threads_) thread.join();
        threads_.clear();
    }

    const Arena& arena_;
    std::vector<std::thread> threads_;
};

}  // namespace

std::unique_ptr<DeviceCrew> start_threads(const Arena& arena, int host_bell) {
    return std::make_unique<Threads>(arena, host_bell);
}

}  // namespace peal::worker
