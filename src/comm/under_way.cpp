// SPDX-License-Identifier: Apache-2.0
#include "comm/under_way.hpp"

#include <fmt/format.h>

#include "comm/queue.hpp"
#include "peal/error.hpp"

namespace peal::comm {

void UnderWay::refuse() const {
    const bool is_broken = user_.load(std::memory_order_relaxed) == &kSeveral;
    throw Error(is_broken ? Fault::wrong : Fault::usage,
                fmt::format("{}; a communicator belongs to one thread at a time: give each thread "
                            "its own, made by split()",
                            is_broken ? "the communicator is broken: several threads have called "
                                        "it at once"
                                      : "the communicator is in use by another thread"));
}

// `each` may end the queue's last call, which removes it.
template <class Each>
void UnderWay::for_each_other(const CallAtHand& mine, Each&& each) const {
    for (std::size_t i = 0; i < entries_.size();) {
        const Entry entry = entries_[i];
        if (entry.call != &mine) each(*entry.queue);
        if (i < entries_.size() && entries_[i].queue == entry.queue) ++i;
    }
}

void UnderWay::go_on(const CallAtHand& mine) {
    for_each_other(mine, [](Queue& queue) { queue.go_on(); });
}

bool UnderWay::can_go_on(const CallAtHand& mine) const {
    return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
        return entry.call != &mine && !entry.call->core.is_blocked();
    });
}

void UnderWay::look_for_members(const CallAtHand& mine) const {
    for_each_other(mine,
                   [](const Queue& queue) { queue.progress().diagnosis().look_for_members(); });
}

std::string UnderWay::standings(const CallAtHand& mine) const {
    std::string text;
    for_each_other(mine, [&](const Queue& queue) {
        text += "\n    and " + queue.progress().diagnosis().report().standing();
    });
    return text;
}

}  // namespace peal::comm
