// SPDX-License-Identifier: Apache-2.0
// All the cryptography there is, from libsodium: who knows a job's secret can show it without
// saying it, and what two such say to each other nobody else reads, changes, repeats or reorders.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace peal::hosts {

// What the processes of one job know and nobody else. It travels in the environment or by PMIx,
// never on a command line, which everybody on a machine can read.
class Secret {
public:
    static constexpr std::size_t kLeastLetters = 32;

    // Any text of at least that length. Throws Error(usage) if it is shorter, or if this build has
    // no cryptography.
    explicit Secret(std::string_view text);

    const unsigned char* key() const { return key_.data(); }

private:
    std::array<unsigned char, 32> key_{};
};

// The text of a new secret: 64 hexadecimal digits. Throws Error(usage), as above.
std::string new_secret_text();
// 32 bytes that have never been used.
std::string new_nonce();

// The two ends of a conversation show the same secret in different words.
enum class Role : char { hub = 'h', guest = 'g' };

// 32 bytes that only somebody who knows the secret can make of what was said so far.
std::string proof(const Secret& secret, Role role, std::string_view said);
bool is_proof(std::string_view proof, const Secret& secret, Role role, std::string_view said);

// What one end says, message after message.
class Sealer {
public:
    // `said`, which both ends know, makes each conversation different.
    Sealer(const Secret& secret, Role role, std::string_view said);
    ~Sealer();
    Sealer(Sealer&&) noexcept;

    std::string seal(std::string_view message);

private:
    struct State;
    std::unique_ptr<State> state_;
};

// And what the other end makes of it, in the same order.
class Opener {
public:
    Opener(const Secret& secret, Role role, std::string_view said);
    ~Opener();
    Opener(Opener&&) noexcept;

    // Nothing if it is not the next message that the other end has sealed.
    std::optional<std::string> open(std::string_view sealed);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace peal::hosts
