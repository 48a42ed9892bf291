// SPDX-License-Identifier: Apache-2.0
#include "cli/host_words.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <utility>

#include "hosts/messages.hpp"
#include "hosts/text_wire.hpp"
#include "peal/error.hpp"

namespace peal::cli {

std::chrono::seconds longest_silence() {
    static const char* const said = std::getenv("PEAL_LONGEST_SILENCE");
    return said == nullptr ? kLongestSilence : std::chrono::seconds(std::atoi(said));
}

void say(hosts::Link& link, const HostWord& word) {
    link.send(pack(hosts::Parcel{static_cast<std::uint32_t>(word.kind), word.number, word.texts}));
}

std::optional<HostWord> next_word(hosts::Link& link) {
    const std::optional<std::string> bytes = link.next();
    if (!bytes) return std::nullopt;
    auto parcel = hosts::parcel_from(*bytes, static_cast<std::uint32_t>(HostWord::Kind::pong));
    if (!parcel) {
        link.end("it says what nobody understands");
        return std::nullopt;
    }
    return HostWord{static_cast<HostWord::Kind>(parcel->kind), parcel->number,
                    std::move(parcel->texts)};
}

HostWord word_of(const HostJob& job) {
    hosts::Packer out;
    out.text(hosts::release()).text(job.share.host);
    out.number(static_cast<std::uint32_t>(job.share.first));
    out.number(static_cast<std::uint32_t>(job.share.count));
    out.number(static_cast<std::uint32_t>(job.nranks));
    out.text(job.secret).text(job.rendezvous);
    out.number(job.listens ? 1 : 0).number(job.is_prefixed ? 1 : 0).text(job.directory);
    for (const std::string& host : job.hosts) out.text(host);
    HostWord word{HostWord::Kind::job, static_cast<int>(job.environment.size()), {out.bytes()}};
    word.texts.insert(word.texts.end(), job.environment.begin(), job.environment.end());
    word.texts.insert(word.texts.end(), job.program.begin(), job.program.end());
    return word;
}

HostJob job_from(const HostWord& word) {
    const auto refuse = [](std::string_view found) {
        return Error(Fault::usage,
                     fmt::format("launch: here is Peal {} and the launcher is {}; build Peal "
                                 "from the same sources on all hosts",
                                 hosts::release(), found));
    };
    if (word.kind != HostWord::Kind::job || word.texts.empty()) throw refuse("something else");
    hosts::Unpacker in(word.texts[0]);
    const std::string_view release = in.text();
    if (release != hosts::release()) throw refuse(release);
    HostJob job;
    job.share.host = in.text();
    job.share.first = static_cast<int>(in.number());
    job.share.count = static_cast<int>(in.number());
    job.nranks = static_cast<int>(in.number());
    job.secret = in.text();
    job.rendezvous = in.text();
    job.listens = in.number() == 1;
    job.is_prefixed = in.number() == 1;
    job.directory = in.text();
    for (int rank = 0; job.listens && in.is_whole() && rank < job.nranks; ++rank) {
        job.hosts.emplace_back(in.text());
    }
    const auto variables = static_cast<std::size_t>(word.number);
    if (!in.is_over() || word.texts.size() < 1 + variables + 1) throw refuse("of another form");
    const auto first = word.texts.begin() + 1;
    const auto program = first + static_cast<std::ptrdiff_t>(variables);
    job.environment.assign(first, program);
    job.program.assign(program, word.texts.end());
    return job;
}

}  // namespace peal::cli
