// SPDX-License-Identifier: Apache-2.0
#include "cli/output_pump.hpp"

#include <utility>

#include "base/thread.hpp"
#include "cli/rank_output.hpp"

namespace peal::cli {

OutputPump::OutputPump()
    : thread_(base::start_thread("the thread for the ranks' output", [this] { run(); })) {}

OutputPump::~OutputPump() { finish(); }

void OutputPump::put(int to, std::string text) {
    const std::lock_guard lock(mutex_);
    bytes_ += text.size();
    pieces_.push_back({to, std::move(text)});
    changed_.notify_one();
}

bool OutputPump::is_full() {
    constexpr std::size_t kMost = std::size_t{1} << 20;
    const std::lock_guard lock(mutex_);
    return bytes_ >= kMost;
}

int OutputPump::finish() {
    {
        const std::lock_guard lock(mutex_);
        is_over_ = true;
        changed_.notify_one();
    }
    if (thread_.joinable()) thread_.join();
    return lost_;
}

void OutputPump::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return is_over_ || !pieces_.empty(); });
        if (pieces_.empty()) return;
        const Piece piece = std::move(pieces_.front());
        pieces_.pop_front();
        lock.unlock();
        const int error = write_all(piece.to, piece.text);
        lock.lock();
        bytes_ -= piece.text.size();
        if (lost_ == 0) lost_ = error;
    }
}

}  // namespace peal::cli
