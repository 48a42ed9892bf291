// SPDX-License-Identifier: Apache-2.0
// Ranks as processes that meet at an address of this machine, each of which tells what it saw.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hosts/guest.hpp"
#include "hosts/rendezvous.hpp"

namespace peal::test {

// Of what needs the secret of a job, which a build without libsodium cannot have.
class NeedsSecret : public ::testing::Test {
protected:
    void SetUp() override;
};

// Runs the body in a process for each rank. What it returns, or "error: <what>" if it throws, or
// "died" if its process did not get there.
std::vector<std::string> told_by_ranks(int nranks,
                                       const std::function<std::string(int rank)>& body);

// A place at which ranks can meet, with a hub in a process of its own unless rank 0 has it.
class Venue {
public:
    enum class Hub { apart, with_first_rank };
    explicit Venue(int nranks, Hub hub = Hub::apart, const std::string& host = "127.0.0.1");
    ~Venue();
    Venue(const Venue&) = delete;
    Venue& operator=(const Venue&) = delete;

    // Of a process that is this rank on host "host<rank>".
    std::unique_ptr<hosts::Guest> come(int rank);
    hosts::Invitation invitation(int rank) const;

    hosts::Address address;
    std::string secret = hosts::new_secret_text();
    std::chrono::milliseconds timeout{60'000};

private:
    int nranks_;
    base::Descriptor listener_;
    pid_t hub_ = -1;
};

}  // namespace peal::test
