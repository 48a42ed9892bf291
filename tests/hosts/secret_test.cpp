// SPDX-License-Identifier: Apache-2.0
#include "hosts/secret.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hosts/ranks.hpp"

namespace peal::test {
namespace secret_test {

class TheSecret : public NeedsSecret {};

using hosts::Opener;
using hosts::Role;
using hosts::Sealer;
using hosts::Secret;

TEST_F(TheSecret, NewOnesDiffer) {
    EXPECT_THAT(hosts::new_secret_text(), ::testing::MatchesRegex("[0-9a-f]{64}"));
    EXPECT_NE(hosts::new_secret_text(), hosts::new_secret_text());
    EXPECT_NE(hosts::new_nonce(), hosts::new_nonce());
}

TEST_F(TheSecret, AProofIsOfOneSecretOneRoleAndWhatWasSaid) {
    const Secret ours(std::string(32, 'a')), theirs(std::string(32, 'b'));
    const std::string shown = proof(ours, Role::guest, "said");
    EXPECT_TRUE(is_proof(shown, ours, Role::guest, "said"));
    EXPECT_FALSE(is_proof(shown, theirs, Role::guest, "said"));
    EXPECT_FALSE(is_proof(shown, ours, Role::hub, "said"));
    EXPECT_FALSE(is_proof(shown, ours, Role::guest, "sbid"));
    EXPECT_FALSE(is_proof(shown.substr(1), ours, Role::guest, "said"));
    EXPECT_FALSE(is_proof("", ours, Role::guest, "said"));
}

TEST_F(TheSecret, WhatIsSealedIsOpenedOnceInOrderAndByTheOtherEnd) {
    const Secret secret(std::string(32, 'a'));
    Sealer sealer(secret, Role::hub, "said");
    const std::string first = sealer.seal("one"), second = sealer.seal("");
    EXPECT_EQ(first.find("one"), std::string::npos);
    Opener opener(secret, Role::hub, "said");
    EXPECT_EQ(opener.open(first), "one");
    EXPECT_EQ(opener.open(second), "");
    EXPECT_EQ(opener.open(second), std::nullopt);
    Opener hasty(secret, Role::hub, "said");
    EXPECT_EQ(hasty.open(second), std::nullopt);
    Opener other(secret, Role::guest, "said");
    EXPECT_EQ(other.open(first), std::nullopt);
    Opener elsewhere(secret, Role::hub, "other");
    EXPECT_EQ(elsewhere.open(first), std::nullopt);
    std::string changed = first;
    changed.back() ^= 1;
    Opener careful(secret, Role::hub, "said");
    EXPECT_EQ(careful.open(changed), std::nullopt);
}

}  // namespace secret_test
}  // namespace peal::test
