// SPDX-License-Identifier: Apache-2.0
#include "driver/unit.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

namespace peal::driver {
namespace {

bool has_same_memories(const Member& a, const Member& b) {
    const auto is_same = [](const pto::TaskMemory& one, const pto::TaskMemory& other) {
        return one.ranks == other.ranks && one.direction == other.direction &&
               one.element == other.element;
    };
    if (!std::equal(a.task.memories.begin(), a.task.memories.end(), b.task.memories.begin(),
                    b.task.memories.end(), is_same)) {
        return false;
    }
    for (std::size_t m = 0; m < a.memories.size(); ++m) {
        if (a.memories[m].domain != b.memories[m].domain) return false;
    }
    return true;
}

bool takes(const Stage& stage, const Member& member) {
    for (const Member* other : stage.members) {
        if (!other) continue;
        if (other->program != member.program || !has_same_memories(*other, member)) return false;
    }
    return stage.members[static_cast<std::size_t>(member.chip)] == nullptr;
}

// The only submitted task that all members are of; -1: there are several.
std::ptrdiff_t node_of(const Stage& stage) {
    std::set<std::size_t> nodes;
    for (const Member* member : stage.members) {
        if (member) nodes.insert(member->node);
    }
    return nodes.size() == 1 ? static_cast<std::ptrdiff_t>(*nodes.begin()) : -1;
}

// Builds the text that is compared.
class Key {
public:
    void add(std::uint64_t number) {
        text_.append(reinterpret_cast<const char*>(&number), sizeof(number));
    }
    template <class Numbers>
    void add_all(const Numbers& numbers) {
        add(numbers.size());
        for (const auto number : numbers) add(static_cast<std::uint64_t>(number));
    }
    std::string text() && { return std::move(text_); }

private:
    std::string text_;
};

void describe(Key& key, const Member& member, std::map<const LiveDomain*, std::uint64_t>& domains) {
    key.add(reinterpret_cast<std::uint64_t>(member.program.get()));
    key.add(member.memories.size());
    for (std::size_t m = 0; m < member.memories.size(); ++m) {
        const pto::TaskMemory& memory = member.task.memories[m];
        const LiveDomain* domain = member.memories[m].domain;
        key.add(domain ? domains.emplace(domain, domains.size() + 1).first->second : 0);
        key.add(static_cast<std::uint64_t>(memory.direction));
        key.add(static_cast<std::uint64_t>(memory.element));
        key.add(memory.bytes);
        key.add_all(memory.ranks);
    }
    key.add(member.task.tensors.size());
    for (const pto::TaskTensor& tensor : member.task.tensors) {
        key.add(tensor.memory);
        key.add(tensor.base);
        key.add(tensor.offset);
        key.add(static_cast<std::uint64_t>(tensor.element));
        key.add_all(tensor.shape);
        key.add_all(tensor.strides);
    }
    key.add(member.task.scalars.size());
    for (const pto::TaskScalar& scalar : member.task.scalars) {
        key.add(static_cast<std::uint64_t>(scalar.kind));
        key.add(scalar.value);
        key.add(scalar.memory);
    }
}

}  // namespace

const Member& anybody(const Stage& stage) {
    return **std::find_if(stage.members.begin(), stage.members.end(),
                          [](const Member* member) { return member != nullptr; });
}

const LiveDomain* domain_of(const Stage& stage, const PreparedStage& prepared, std::size_t buffer) {
    const std::vector<KnownMemory>& memories = anybody(stage).memories;
    const std::size_t memory = prepared.memory_of[buffer];
    return memory < memories.size() ? memories[memory].domain : nullptr;
}

std::vector<Stage> stages_of(const std::vector<const Member*>& members, int chips,
                             const std::vector<std::vector<std::size_t>>& nodes_after) {
    std::vector<Stage> stages;
    std::vector<std::size_t> next(static_cast<std::size_t>(chips),
                                  0);  // stage that a chip may join
    for (const Member* member : members) {
        const auto chip = static_cast<std::size_t>(member->chip);
        std::size_t at = next[chip];
        while (at < stages.size() && !takes(stages[at], *member)) ++at;
        if (at == stages.size()) {
            stages.push_back({std::vector<const Member*>(static_cast<std::size_t>(chips)), false});
        }
        stages[at].members[chip] = member;
        next[chip] = at + 1;
    }
    const auto all_of = [&](const Stage& stage) {
        for (std::size_t chip = 0; chip < next.size(); ++chip) {
            if (next[chip] > 0 && !stage.members[chip]) return false;
        }
        return true;
    };
    for (std::size_t s = 1; s < stages.size(); ++s) {
        const std::ptrdiff_t node = node_of(stages[s]);
        const std::ptrdiff_t before = node_of(stages[s - 1]);
        if (node < 0 || before < 0 || !all_of(stages[s]) || !all_of(stages[s - 1])) continue;
        const std::vector<std::size_t>& after = nodes_after[static_cast<std::size_t>(node)];
        stages[s].meets =
            std::find(after.begin(), after.end(), static_cast<std::size_t>(before)) != after.end();
    }
    return stages;
}

std::string key_of(const std::vector<Stage>& stages) {
    Key key;
    std::map<const LiveDomain*, std::uint64_t> domains;
    for (const Stage& stage : stages) {
        key.add(stage.meets ? 1 : 0);
        key.add(stage.members.size());
        for (std::size_t rank = 0; rank < stage.members.size(); ++rank) {
            key.add(stage.members[rank] ? rank + 1 : 0);
            if (stage.members[rank]) describe(key, *stage.members[rank], domains);
        }
    }
    return std::move(key).text();
}

}  // namespace peal::driver
