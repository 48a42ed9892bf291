// SPDX-License-Identifier: Apache-2.0
// storm [seconds] [seed]: trials until the time is over. Says from which seed on; `storm 0 SEED` is
// one trial again.
#include "comm/storm/storm.hpp"
#include "support/seeds.hpp"

int main(int argc, char** argv) {
    using namespace peal::storm;  // NOLINT
    peal::test::Seeds seeds(argc, argv, 300);
    std::uint64_t seed = seeds.first();
    do {
        const std::string complaint = complaint_about(trial_of(seed++));
        if (!complaint.empty()) {
            fmt::print("{}\n", complaint);
            return 1;
        }
        seeds.tell([&] { return fmt::format("{} trials held", seed - seeds.first()); });
    } while (!seeds.is_over());
    fmt::print("seeds {} to {} held\n", seeds.first(), seed - 1);
    return 0;
}
