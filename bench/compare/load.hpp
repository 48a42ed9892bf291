// SPDX-License-Identifier: Apache-2.0
// How much other programs used the cores meanwhile.
#pragma once

namespace peal::bench {

class ForeignLoad {
public:
    ForeignLoad();
    // What the contenders report of themselves.
    void add_own(double cpu_seconds) { own_ += cpu_seconds; }
    // In cores, since the start; never below zero.
    double cores() const;

private:
    double wall_;
    double busy_;
    double driver_;
    double own_ = 0;
};

}  // namespace peal::bench
