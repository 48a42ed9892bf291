// SPDX-License-Identifier: Apache-2.0
// all_to_all_v where each rank knows its own pieces only: the ranks tell each other before, and
// pieces that are small go along.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "comm/group.hpp"

namespace peal::comm {

class LocalPieces {
public:
    explicit LocalPieces(Group& group) : group_(group) {}

    // What a rank asks for.
    struct Wish {
        ConstMemory input;
        Memory output;
        const Pieces& sent;
        const Pieces& received;
    };

    // Every rank calls one of the two, any of them. They throw Error(usage): on this rank alone,
    // before anybody is told, when the arguments do not fit each other; on all ranks alike when a
    // rank sends what its peer does not expect.

    // The call that is left to be made; none if all pieces have come already.
    std::optional<ReadyCall> exchange(const Wish& wish, CallSite at);
    // The call, which may be made often.
    ReadyCall prepare(const Wish& wish, CallSite at);

private:
    using Numbers = std::vector<std::int64_t>;

    // This rank's side of a call, checked.
    struct Side {
        ConstMemory given{nullptr, 0, Element::u8};  // up to the end of its last piece
        Memory got{nullptr, 0, Element::u8};
        Numbers sent_at, received_at;
        bool is_packed = true;
    };

    void check(const Wish& wish);
    bool is_checked(const ConstMemory& given, const Memory& got) const;
    void pack(const Wish& wish, bool may_go_along);
    void tell(CallSite at);
    void agree();
    bool went_along() const;
    void unpack(const Wish& wish) const;
    ReadyCall call_for(CallSite at);

    Group& group_;
    Side side_;
    // A block for each rank, and from each: see Block in the source.
    std::vector<std::byte> sending_, arriving_;
    Numbers counts_;  // of all pairs: [from * nranks + to]
    // The last call that was left to be made, and what it was for.
    struct Last {
        Side side;
        Numbers counts;
        CallSite at;
        ReadyCall call;
    };
    std::optional<Last> last_;
    RoutinePtr telling_;
};

}  // namespace peal::comm
