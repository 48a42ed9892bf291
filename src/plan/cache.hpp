// SPDX-License-Identifier: Apache-2.0
// Compiled plans, kept for the next call of the same kernel with the same sizes.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "peal/compile.hpp"

namespace peal {

using PlansPtr = std::shared_ptr<const std::vector<Plan>>;

// Holds the plans of up to `capacity` compilations; the one not asked for longest goes first. What
// was handed out stays alive with its user. Safe to use from several threads.
class PlanCache {
public:
    explicit PlanCache(std::size_t capacity) : capacity_(capacity) {}

    // As compile(), which it calls when there is nothing to reuse. An error is not kept.
    PlansPtr compile(const ir::Program& program, std::string_view kernel, const Bindings& bindings,
                     int nranks, const CompileOptions& options = {});

    std::size_t size() const;

private:
    struct Key {
        ir::Program program;
        std::string kernel;
        Bindings bindings;
        int nranks;
        CompileOptions options;
    };
    struct Entry {
        std::size_t hash;
        Key key;
        PlansPtr plans;
    };
    using Entries = std::list<Entry>;  // the last used first

    static bool same(const Key& a, const Key& b);
    static std::size_t hash(const Key& key);
    Entries::iterator find(std::size_t hash, const Key& key);
    void insert(Entry entry);
    void evict();

    const std::size_t capacity_;
    mutable std::mutex mutex_;
    Entries entries_;
    std::unordered_multimap<std::size_t, Entries::iterator> by_hash_;
};

}  // namespace peal
