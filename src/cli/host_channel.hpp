// SPDX-License-Identifier: Apache-2.0
// The host's end of the way to the launcher: a thread that hears it and answers, beside those that
// have something to say. When the launcher is gone, so is everything here.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "base/descriptor.hpp"
#include "cli/host_words.hpp"

namespace peal::cli {

class HostChannel {
public:
    // Over the standard streams, which are somebody else's from then on: input is empty, and output
    // goes where errors go. Throws Error(resource).
    HostChannel();
    ~HostChannel();
    HostChannel(const HostChannel&) = delete;
    HostChannel& operator=(const HostChannel&) = delete;

    // Before start(): the first word. Nothing if the launcher has gone.
    std::optional<HostWord> await_job();

    struct Handlers {
        std::function<void(int signal)> on_signal;
        std::function<void()> on_question;
        std::function<void(int rank)> on_failure_elsewhere;
    };
    // From now on a thread hears what the launcher says. `front` is a pidfd of a process without
    // which there is no launcher either.
    void start(int front, Handlers handlers);

    // Of any thread.
    void say(const HostWord& word);
    // The same, and waits while the launcher is slow, so that whoever talks much waits, too.
    int say_output(int to, std::string_view text);
    // Returns when the launcher has gone. What it said until then has been heard: nothing is, from
    // then on.
    void await_end();

    // Whether the launcher has gone, or who stands before this process; the descriptor can be read
    // then.
    bool is_gone() const;
    int end_descriptor() const { return gone_.get(); }
    // What is typed at the launcher can be read here.
    int input_descriptor() const { return input_out_.get(); }

private:
    void stop();
    void hear();
    void look_once();
    void take(const HostWord& word);
    void feed();

    const base::Descriptor wake_, gone_;
    base::Descriptor input_in_, input_out_;
    int front_ = -1;
    Handlers handlers_;
    std::mutex mutex_;
    std::condition_variable drained_;
    hosts::Link link_;
    std::string input_;  // on its way to rank 0
    bool input_is_owed_ = false, input_is_over_ = false;
    bool stop_ = false;
    std::chrono::steady_clock::time_point heard_ = std::chrono::steady_clock::now();
    std::thread thread_;
};

}  // namespace peal::cli
