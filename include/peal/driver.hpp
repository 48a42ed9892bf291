// SPDX-License-Identifier: Apache-2.0
// A driver: a host program that hands chip tasks to devices by bare addresses, and has each of them
// proved before it runs.
//
//   Driver driver({.worker = {.ranks = 2, .platform = "a2a3sim"}});
//   const DriverDomain domain = driver.allocate_domain({0, 1}, 4096);
//   driver.submit({callable, {0, 1}, {arguments_of_0, arguments_of_1}});
//   driver.run();  // all that was submitted: traced, proved, carried out
//
// An address belongs to a window of a domain, to memory of a device, or to the host program. The
// task that it is passed to decides what is there; nobody declares signals. docs/compatibility.md
// has the Python programs that are run like this.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "peal/element.hpp"
#include "peal/pto_task.hpp"
#include "peal/words.hpp"
#include "peal/worker.hpp"

namespace peal {

// What becomes of tasks that are not proved.
enum class DriverCheck : std::uint8_t {
    off,    // nobody asks
    warn,   // they run, and stderr says what is wrong
    error,  // run() throws Error(wrong), or Error(bound), and nothing runs
};

struct DriverOptions {
    WorkerOptions worker;
    DriverCheck check = DriverCheck::warn;
    double max_seconds = 60;  // of one proof
    // Where pages with counterexamples go; empty: counterexamples/ in the cache directory.
    std::string pages = {};
};

// A program for a chip, for any number of drivers. Copies share it.
struct DriverCallable {
    std::shared_ptr<const pto::ChipProgram> program;
    // Of the tensors of a task, by index: what is copied to the chip and back. Those beyond the
    // list are copied both ways.
    std::vector<Direction> signature;
};

struct DriverTensor {
    std::uint64_t base = 0;    // what its descriptor calls its buffer
    std::uint64_t offset = 0;  // bytes, from there to its first element
    Element element = Element::f32;
    std::vector<std::uint64_t> shape = {};
    std::vector<std::uint64_t> strides = {};  // elements; empty: row-major
    // Which tasks come first: those that wrote some of its bytes, if it is read here; and whether
    // it counts as written.
    bool waits = true;
    bool writes = true;
};

struct DriverArguments {
    std::vector<DriverTensor> tensors;
    std::vector<std::uint64_t> scalars;  // addresses of windows and contexts are known as such
};

// One callable on one chip or on several. Those who wait for one of its members wait for all.
struct DriverTask {
    DriverCallable callable;
    std::vector<int> chips;
    std::vector<DriverArguments> arguments;  // by chip, as listed
};

struct DriverDomain {
    std::uint64_t id = 0;
    std::vector<int> chips;               // by rank in the domain
    std::vector<std::uint64_t> windows;   // addresses, by rank in the domain
    std::vector<std::uint64_t> contexts;  // addresses of CommContext, likewise
};

// What was found out about the kernels that ran, each sequence of tasks once.
struct DriverSummary {
    int proved = 0;
    int proved_if_drained = 0;  // of these: only if a store that a pipe has drained is seen by all
    int refuted = 0;
    int undecided = 0;
};

// It is for one thread at a time.
class Driver {
public:
    // Starts the devices. Throws as Worker does.
    explicit Driver(DriverOptions options);
    ~Driver();
    Driver(const Driver&) = delete;
    Driver& operator=(const Driver&) = delete;

    // Zeroed windows of so many bytes on these chips. Throws Error(usage) for chips that are not
    // there or named twice, and Error(resource).
    DriverDomain allocate_domain(const std::vector<int>& chips, std::uint64_t bytes);
    // Its memory goes when the tasks that use it are over.
    void release_domain(std::uint64_t id);

    // Zeroed memory of one chip; its address.
    std::uint64_t allocate(int chip, std::uint64_t bytes);
    void free(std::uint64_t address);
    // Between host and chip, at once; before the first task of a run.
    void copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes);

    // Remembers a task. Throws Error(usage) at once for what cannot be; also for a domain that was
    // used before an earlier start(): proofs begin with fresh windows.
    void submit(const DriverTask& task);
    // Begins what was submitted. Throws Error(program) for what cannot be traced, and as `check`
    // says for what is not proved; then nothing is left to do.
    void start();
    // Returns when all of it is over; throws what a task threw, when all others are over too.
    void wait();
    // As wait(), at most so long: false if it is not over yet.
    bool wait_for(std::chrono::nanoseconds limit);
    void run();   // start() and wait()
    void stop();  // forgets what was submitted, and ends what has begun

    DriverSummary summary() const;
    void close();

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace peal
