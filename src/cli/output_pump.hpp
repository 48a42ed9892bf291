// SPDX-License-Identifier: Apache-2.0
// Writes what has come from elsewhere to the standard streams, in a thread of its own: whoever
// reads them may be slow.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

namespace peal::cli {

class OutputPump {
public:
    // Throws Error(resource).
    OutputPump();
    ~OutputPump();
    OutputPump(const OutputPump&) = delete;
    OutputPump& operator=(const OutputPump&) = delete;

    void put(int to, std::string text);
    // So much waits that nobody should put more.
    bool is_full();
    // When all is written: 0, or the number of the first error.
    int finish();

private:
    struct Piece {
        int to;
        std::string text;
    };
    void run();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Piece> pieces_;
    std::size_t bytes_ = 0;
    bool is_over_ = false;
    int lost_ = 0;
    std::thread thread_;
};

}  // namespace peal::cli
