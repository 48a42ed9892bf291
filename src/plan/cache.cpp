// SPDX-License-Identifier: Apache-2.0
#include "plan/cache.hpp"

#include <functional>

namespace peal {
namespace {

// Plans refer to lines of their source, so equal programs from different texts are different here.
bool same_source(const SourcePtr& a, const SourcePtr& b) {
    if (!a || !b) return a == b;
    return a == b || (a->name() == b->name() && a->text() == b->text());
}

void mix(std::size_t& state, std::size_t value) {
    state ^= value + 0x9e3779b97f4a7c15ULL + (state << 6) + (state >> 2);
}

template <class Values, class HashValue>
void mix_all(std::size_t& state, const Values& values, HashValue&& hash_value) {
    mix(state, values.size());
    for (const auto& [name, value] : values) {
        mix(state, std::hash<std::string>{}(name));
        hash_value(value);
    }
}

}  // namespace

bool PlanCache::same(const Key& a, const Key& b) {
    return a.kernel == b.kernel && a.nranks == b.nranks && a.options.fuse == b.options.fuse &&
           a.options.max_instructions == b.options.max_instructions && a.bindings == b.bindings &&
           same_source(a.program.source, b.program.source) && ir::equal(a.program, b.program);
}

std::size_t PlanCache::hash(const Key& key) {
    std::size_t state = ir::hash(key.program);
    mix(state, std::hash<std::string>{}(key.kernel));
    mix(state, static_cast<std::size_t>(key.nranks));
    mix(state, key.options.fuse);
    mix(state, key.options.max_instructions);
    const auto integer = [&](std::int64_t value) { mix(state, static_cast<std::size_t>(value)); };
    mix_all(state, key.bindings.integers, integer);
    mix_all(state, key.bindings.numbers,
            [&](double value) { mix(state, std::hash<double>{}(value)); });
    mix_all(state, key.bindings.tables, [&](const std::vector<std::int64_t>& table) {
        for (const std::int64_t value : table) integer(value);
    });
    return state;
}

PlanCache::Entries::iterator PlanCache::find(std::size_t hash, const Key& key) {
    const auto [first, last] = by_hash_.equal_range(hash);
    for (auto it = first; it != last; ++it) {
        if (same(it->second->key, key)) return it->second;
    }
    return entries_.end();
}

void PlanCache::evict() {
    const auto oldest = std::prev(entries_.end());
    const auto [first, last] = by_hash_.equal_range(oldest->hash);
    for (auto it = first; it != last; ++it) {
        if (it->second != oldest) continue;
        by_hash_.erase(it);
        break;
    }
    entries_.erase(oldest);
}

void PlanCache::insert(Entry entry) {
    entries_.push_front(std::move(entry));
    by_hash_.emplace(entries_.front().hash, entries_.begin());
    if (entries_.size() > capacity_) evict();
}

PlansPtr PlanCache::compile(const ir::Program& program, std::string_view kernel,
                            const Bindings& bindings, int nranks, const CompileOptions& options) {
    Key key{program, std::string(kernel), bindings, nranks, options};
    const std::size_t key_hash = hash(key);
    {
        const std::lock_guard lock(mutex_);
        const auto found = find(key_hash, key);
        if (found != entries_.end()) {
            entries_.splice(entries_.begin(), entries_, found);
            return found->plans;
        }
    }
    // Others may use the cache meanwhile; two that compile the same thing get the one that came
    // first.
    auto plans = std::make_shared<const std::vector<Plan>>(
        peal::compile(program, kernel, bindings, nranks, options));
    const std::lock_guard lock(mutex_);
    const auto found = find(key_hash, key);
    if (found != entries_.end()) return found->plans;
    insert({key_hash, std::move(key), plans});
    return plans;
}

std::size_t PlanCache::size() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
}

}  // namespace peal
