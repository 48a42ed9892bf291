// SPDX-License-Identifier: Apache-2.0
// soundness [seconds] [seed]: compares programs that nobody has seen, of all sorts in turn, until
// the time is over. Says from which seed on; the same seed, the same programs.
#include "check/crosscheck/compare.hpp"
#include "support/seeds.hpp"

int main(int argc, char** argv) {
    using namespace peal;        // NOLINT
    using namespace peal::test;  // NOLINT
    Seeds seeds(argc, argv, 3600);
    std::map<Sort, Tally> tallies;
    std::uint64_t seed = seeds.first();
    for (; !seeds.is_over(); ++seed) {
        for (const Sort sort : kSorts) {
            const RandomProgram program = random_program(sort, seed);
            const std::string complaint = disagreement(program, tallies[sort]);
            if (complaint.empty()) continue;
            fmt::print("{} seed {}: the answers differ\n{}\n{}", name(sort), seed, complaint,
                       listing(program));
            return 1;
        }
        seeds.tell([&] { return fmt::format("seeds {} to {} agree", seeds.first(), seed); });
    }
    Tally all;
    for (const auto& [sort, tally] : tallies) {
        fmt::print("{}: {}\n", name(sort), to_text(tally));
        all.add(tally);
    }
    fmt::print("seeds {} to {} agree\nall: {}\n", seeds.first(), seed - 1, to_text(all));
    return 0;
}
