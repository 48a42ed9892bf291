// SPDX-License-Identifier: Apache-2.0
#include "hosts/messages.hpp"

#include <utility>

#include "hosts/text_wire.hpp"

namespace peal::hosts {
namespace {

constexpr std::string_view kName = "peal rendezvous";

}  // namespace

std::string pack(const Greeting& greeting) {
    return Packer().text(kName).number(greeting.version).text(greeting.nonce).bytes();
}

std::optional<Greeting> greeting_from(std::string_view bytes) {
    Unpacker in(bytes);
    if (in.text() != kName) return std::nullopt;
    Greeting greeting;
    greeting.version = in.number();
    greeting.nonce = in.text();
    if (!in.is_whole()) return std::nullopt;
    return greeting;
}

std::string pack(const Claim& claim) {
    return Packer()
        .number(claim.version)
        .text(claim.release)
        .number(static_cast<std::uint32_t>(claim.rank))
        .number(static_cast<std::uint32_t>(claim.nranks))
        .text(claim.host)
        .text(claim.nonce)
        .bytes();
}

// What a later version has more is not read: it is refused by its version.
std::optional<Claim> claim_from(std::string_view bytes) {
    Unpacker in(bytes);
    Claim claim;
    claim.version = in.number();
    claim.release = in.text();
    claim.rank = static_cast<int>(in.number());
    claim.nranks = static_cast<int>(in.number());
    claim.host = in.text();
    claim.nonce = in.text();
    if (!in.is_whole()) return std::nullopt;
    return claim;
}

std::string pack(std::string_view claim, std::string_view proof) {
    return Packer().text(claim).text(proof).bytes();
}

std::optional<SignedClaim> signed_claim_from(std::string_view bytes) {
    Unpacker in(bytes);
    const std::string_view claim = in.text();
    const std::string_view proof = in.text();
    if (!in.is_over()) return std::nullopt;
    return SignedClaim{claim, proof};
}

std::string pack(const Answer& answer) {
    return Packer()
        .number(answer.is_accepted ? 1 : 0)
        .number(static_cast<std::uint32_t>(answer.owner))
        .text(answer.text)
        .bytes();
}

std::optional<Answer> answer_from(std::string_view bytes) {
    Unpacker in(bytes);
    Answer answer;
    answer.is_accepted = in.number() == 1;
    answer.owner = static_cast<int>(in.number());
    answer.text = in.text();
    if (!in.is_over()) return std::nullopt;
    return answer;
}

std::string pack(const Message& message) {
    return pack(Parcel{static_cast<std::uint32_t>(message.kind), message.rank, message.texts});
}

std::optional<Message> message_from(std::string_view bytes) {
    auto parcel = parcel_from(bytes, static_cast<std::uint32_t>(Message::Kind::cut));
    if (!parcel) return std::nullopt;
    return Message{static_cast<Message::Kind>(parcel->kind), parcel->number,
                   std::move(parcel->texts)};
}

Message message_of(const Meeting::News& news) {
    const auto kind =
        static_cast<std::uint32_t>(Message::Kind::died) + static_cast<std::uint32_t>(news.kind);
    return {static_cast<Message::Kind>(kind), news.rank, {news.story}};
}

std::optional<Meeting::News> news_from(const Message& message) {
    if (message.kind < Message::Kind::died || message.texts.size() != 1) return std::nullopt;
    const auto kind =
        static_cast<std::uint32_t>(message.kind) - static_cast<std::uint32_t>(Message::Kind::died);
    return Meeting::News{static_cast<Meeting::News::Kind>(kind), message.rank, message.texts[0]};
}

}  // namespace peal::hosts
