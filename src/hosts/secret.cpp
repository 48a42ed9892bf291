// SPDX-License-Identifier: Apache-2.0
#include "hosts/secret.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <cstring>

#include "peal/error.hpp"

namespace peal::hosts {
namespace {

static_assert(crypto_auth_KEYBYTES == 32 && crypto_auth_BYTES == 32);
static_assert(crypto_secretstream_xchacha20poly1305_KEYBYTES == 32);

constexpr std::size_t kNonceBytes = 32;
constexpr std::size_t kHeaderBytes = crypto_secretstream_xchacha20poly1305_HEADERBYTES;
constexpr std::size_t kAddedBytes = crypto_secretstream_xchacha20poly1305_ABYTES;

// More than once does no harm.
void start_sodium() {
    if (sodium_init() < 0) throw Error(Fault::resource, "libsodium finds no random numbers");
}

const unsigned char* bytes_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

std::string said_by(Role role, std::string_view said) {
    return std::string(1, static_cast<char>(role)) + std::string(said);
}

// A key for one direction of one conversation.
std::array<unsigned char, 32> stream_key(const Secret& secret, Role role, std::string_view said) {
    const std::string text = said_by(role, said);
    std::array<unsigned char, 32> key{};
    crypto_generichash(key.data(), key.size(), bytes_of(text), text.size(), secret.key(), 32);
    return key;
}

}  // namespace

Secret::Secret(std::string_view text) {
    start_sodium();
    if (text.size() < kLeastLetters) {
        throw Error(Fault::usage,
                    fmt::format("the secret of a job (PEAL_SECRET) has {} letters, expected {} or "
                                "more; for example what `openssl rand -hex 32` prints, the same "
                                "for every rank",
                                text.size(), kLeastLetters));
    }
    crypto_generichash(key_.data(), key_.size(), bytes_of(text), text.size(), nullptr, 0);
}

std::string new_secret_text() {
    const std::string bytes = new_nonce();
    std::string text(2 * bytes.size() + 1, '\0');
    sodium_bin2hex(text.data(), text.size(), bytes_of(bytes), bytes.size());
    text.pop_back();
    return text;
}

std::string new_nonce() {
    start_sodium();
    std::string nonce(kNonceBytes, '\0');
    randombytes_buf(nonce.data(), nonce.size());
    return nonce;
}

std::string proof(const Secret& secret, Role role, std::string_view said) {
    const std::string text = said_by(role, said);
    std::string code(crypto_auth_BYTES, '\0');
    crypto_auth(bytes_of(code), bytes_of(text), text.size(), secret.key());
    return code;
}

bool is_proof(std::string_view proof, const Secret& secret, Role role, std::string_view said) {
    if (proof.size() != crypto_auth_BYTES) return false;
    const std::string text = said_by(role, said);
    return crypto_auth_verify(bytes_of(proof), bytes_of(text), text.size(), secret.key()) == 0;
}

struct Sealer::State {
    crypto_secretstream_xchacha20poly1305_state stream{};
    std::string header;  // goes before the first message
};

Sealer::Sealer(const Secret& secret, Role role, std::string_view said)
    : state_(std::make_unique<State>()) {
    state_->header.resize(kHeaderBytes);
    crypto_secretstream_xchacha20poly1305_init_push(&state_->stream, bytes_of(state_->header),
                                                    stream_key(secret, role, said).data());
}
Sealer::~Sealer() = default;
Sealer::Sealer(Sealer&&) noexcept = default;

std::string Sealer::seal(std::string_view message) {
    std::string sealed = std::move(state_->header);
    state_->header.clear();
    const std::size_t begin = sealed.size();
    sealed.resize(begin + message.size() + kAddedBytes);
    crypto_secretstream_xchacha20poly1305_push(&state_->stream, bytes_of(sealed) + begin, nullptr,
                                               bytes_of(message), message.size(), nullptr, 0, 0);
    return sealed;
}

struct Opener::State {
    std::array<unsigned char, 32> key{};
    crypto_secretstream_xchacha20poly1305_state stream{};
    bool has_begun = false;
};

Opener::Opener(const Secret& secret, Role role, std::string_view said)
    : state_(std::make_unique<State>()) {
    state_->key = stream_key(secret, role, said);
}
Opener::~Opener() = default;
Opener::Opener(Opener&&) noexcept = default;

std::optional<std::string> Opener::open(std::string_view sealed) {
    if (!state_->has_begun) {
        const bool is_header = sealed.size() >= kHeaderBytes &&
                               crypto_secretstream_xchacha20poly1305_init_pull(
                                   &state_->stream, bytes_of(sealed), state_->key.data()) == 0;
        if (!is_header) return std::nullopt;
        state_->has_begun = true;
        sealed.remove_prefix(kHeaderBytes);
    }
    if (sealed.size() < kAddedBytes) return std::nullopt;
    std::string message(sealed.size() - kAddedBytes, '\0');
    const int opened = crypto_secretstream_xchacha20poly1305_pull(
        &state_->stream, bytes_of(message), nullptr, nullptr, bytes_of(sealed), sealed.size(),
        nullptr, 0);
    if (opened != 0) return std::nullopt;
    return message;
}

}  // namespace peal::hosts
