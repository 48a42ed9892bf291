// SPDX-License-Identifier: Apache-2.0
// The running processes of one contender, seen from the driver. Between orders they sleep.
#pragma once

#include <sys/types.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "order.hpp"
#include "roster.hpp"

namespace peal::bench {

// A contender that did not start, crashed, hung or gave a wrong result. The crew is of no use then.
struct CrewTrouble : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Measurement {
    std::vector<double> batches_ns;  // per call, see measure.hpp
    double cpu_seconds = 0;          // of all ranks
};

class Crew {
public:
    // `directory` is new and for this crew alone.
    Crew(const Entry& entry, int nranks, const std::string& directory);
    // Sends everybody home; whoever does not go is killed.
    ~Crew();
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

    Measurement measure(const Order& order);

private:
    struct Rank {
        int line = -1;
        pid_t pid = 0;
    };

    void start(const Entry& entry, const std::string& directory);
    void gather();
    void greet(int line);
    Answer hear(int rank, double deadline);
    std::string last_words() const;

    int nranks_;
    std::string log_;
    int door_ = -1;
    std::vector<pid_t> launched_;
    std::vector<Rank> ranks_;
};

}  // namespace peal::bench
