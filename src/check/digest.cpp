// SPDX-License-Identifier: Apache-2.0
#include "check/digest.hpp"

#include <map>

#include "base/digest.hpp"

namespace peal::checker {
namespace {

template <class... Numbers>
void put_numbers(base::Digest& digest, Numbers... numbers) {
    (digest.add(static_cast<std::uint64_t>(numbers)), ...);
}

std::string digest_of_list(const std::vector<Contribution>& list) {
    base::Digest digest;
    put_numbers(digest, list.size());
    for (const auto& [rank, buffer, offset] : list) put_numbers(digest, rank, buffer, offset);
    return digest.text();
}

// Many outputs share one list: it is gone through once.
class ContributionDigests {
public:
    const std::string& of(const Contributions& list) {
        const auto [at, is_new] = known_.try_emplace(list.get());
        if (is_new) at->second = list ? digest_of_list(*list) : "none";
        return at->second;
    }

private:
    std::map<const void*, std::string> known_;
};

}  // namespace

std::string digest(const Meaning& meaning) {
    const auto& [name, staged, outputs, in_order, same_bits, commutes, meets] = meaning;
    base::Digest digest;
    digest.add(name);
    put_numbers(digest, in_order, same_bits, commutes, meets, staged.size());
    for (const auto& [rank, buffer, offset, length] : staged) {
        put_numbers(digest, rank, buffer, offset, length);
    }
    put_numbers(digest, outputs.size());
    ContributionDigests lists;
    for (const auto& [rank, buffer, offset, length, of, op, element, reduces] : outputs) {
        put_numbers(digest, rank, buffer, offset, length, op, element, reduces);
        digest.add(lists.of(of));
    }
    return digest.text();
}

std::string digest(const std::vector<CheckStage>& stages) {
    base::Digest digest;
    put_numbers(digest, stages.size());
    for (const auto& [plans, meaning, memory, holds] : stages) {
        put_numbers(digest, plans->size());
        for (const Plan& plan : *plans) digest.add(peal::digest(plan));
        digest.add(meaning ? checker::digest(*meaning) : "none");
        put_numbers(digest, memory.size());
        for (const std::string& name : memory) digest.add(name);
        put_numbers(digest, holds.size());
        for (const auto& [window, what] : holds) {
            digest.add(window);
            put_numbers(digest, what);
        }
    }
    return digest.text();
}

}  // namespace peal::checker
