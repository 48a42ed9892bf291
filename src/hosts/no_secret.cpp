// SPDX-License-Identifier: Apache-2.0
// In the place of secret.cpp where libsodium is missing: hosts are refused before they can speak.
#include "hosts/secret.hpp"

#include "peal/error.hpp"

namespace peal::hosts {
namespace {

[[noreturn]] void refuse() {
    throw Error(Fault::usage,
                "this build of Peal cannot connect hosts: it has no libsodium; install the Debian "
                "package libsodium-dev and build again");
}

}  // namespace

Secret::Secret(std::string_view) { refuse(); }
std::string new_secret_text() { refuse(); }
std::string new_nonce() { refuse(); }
std::string proof(const Secret&, Role, std::string_view) { refuse(); }
bool is_proof(std::string_view, const Secret&, Role, std::string_view) { refuse(); }

struct Sealer::State {};
Sealer::Sealer(const Secret&, Role, std::string_view) { refuse(); }
Sealer::~Sealer() = default;
Sealer::Sealer(Sealer&&) noexcept = default;
std::string Sealer::seal(std::string_view) { refuse(); }

struct Opener::State {};
Opener::Opener(const Secret&, Role, std::string_view) { refuse(); }
Opener::~Opener() = default;
Opener::Opener(Opener&&) noexcept = default;
std::optional<std::string> Opener::open(std::string_view) { refuse(); }

}  // namespace peal::hosts
