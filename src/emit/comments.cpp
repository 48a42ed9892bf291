// SPDX-License-Identifier: Apache-2.0
#include "emit/kernel_text.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "emit/names.hpp"
#include "peal/ops.hpp"
#include "peal/program.hpp"

namespace peal::emit {
namespace {

using namespace ir;  // NOLINT: reads the IR

bool is_own_rank(const ExprPtr& expr) {
    const auto* call = as<Call>(expr);
    return call && call->op == ops::kRank;
}

// for peer in 0..nranks { if peer != rank { ... } }
bool visits_peers(const Loop& loop) {
    if (!loop.counter || !is_rank_count(loop.hi) || loop.body.size() != 1) return false;
    const auto* branch = std::get_if<Branch>(&loop.body.front().what);
    if (!branch || !branch->else_steps.empty()) return false;
    const auto* condition = as<Binary>(branch->condition);
    return condition && condition->op == BinaryOp::ne && is_own_rank(condition->rhs);
}

// Everything that a chunk loop loads, combines and stores, once each.
class Summary {
public:
    explicit Summary(const Loop& loop) { look(loop.body, nullptr); }

    std::string sentence() const {
        if (stores_.empty()) return {};
        const std::string from = every_ ? *every_ : joined(loads_);
        const std::string to = joined(stores_);
        if (reduces_) return fmt::format("Combine {}, in rank order, into {}.", from, to);
        if (computes_) return fmt::format("Combine {} into {}.", from, to);
        return fmt::format("Copy {} to {}.", joined(loads_), to);
    }

private:
    static std::string joined(const std::vector<std::string>& names) {
        return fmt::format("{}", fmt::join(names, " and "));
    }

    // peer_2 is printed as peer.
    static std::string plain(const std::string& name) {
        const std::size_t last = name.find_last_not_of("0123456789");
        const bool numbered =
            last != std::string::npos && last > 0 && name[last] == '_' && last + 1 < name.size();
        return numbered ? name.substr(0, last) : name;
    }

    static void add(std::vector<std::string>& names, std::string name) {
        if (std::find(names.begin(), names.end(), name) == names.end()) {
            names.push_back(std::move(name));
        }
    }

    std::string name_of(const MemoryRef& ref, const Loop* around) {
        const std::string memory = ref.memory->name;
        if (!ref.peer) return memory;
        if (const auto* counter = as<Var>(ref.peer)) {
            if (around && around->counter && around->counter->name == counter->name) {
                every_ = fmt::format("{} of every rank", memory);
                return *every_;
            }
        }
        return fmt::format("{} of rank {}", memory, plain(print(ref.peer)));
    }

    void look(const Steps& steps, const Loop* around) {
        for (const Step& step : steps) {
            if (const auto* load = std::get_if<LoadTile>(&step.what)) {
                add(loads_, name_of(load->from, around));
            } else if (const auto* store = std::get_if<StoreTile>(&step.what)) {
                add(stores_, name_of(store->to, around));
            } else if (std::holds_alternative<Compute>(step.what)) {
                computes_ = true;
                reduces_ = reduces_ || (around && is_rank_count(around->hi));
            } else if (const auto* loop = std::get_if<Loop>(&step.what)) {
                look(loop->body, loop);
            } else if (const auto* branch = std::get_if<Branch>(&step.what)) {
                look(branch->then_steps, around);
                look(branch->else_steps, around);
            }
        }
    }

    std::vector<std::string> loads_, stores_;
    std::optional<std::string> every_;  // a memory that is read on each rank
    bool computes_ = false;
    bool reduces_ = false;
};

}  // namespace

std::string describe(const Loop& loop) {
    if (loop.chunks) return Summary(loop).sentence();
    if (works_on_tiles(loop.body) || !visits_peers(loop)) return {};
    if (!notifies(loop.body)) return "Wait for every peer.";
    return "Tell every peer.";
}

}  // namespace peal::emit
