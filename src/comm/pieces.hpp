// SPDX-License-Identifier: Apache-2.0
// all_to_all_v where each rank knows its own pieces only: the ranks tell each other before, and
// pieces that are small go along. After two calls with the same pieces each rank says of the next
// only whether its own are like those; if those of all are, that was all there was to say.
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
    std::optional<Request> exchange(const Wish& wish, CallSite at);
    // The call, which may be made often.
    Request prepare(const Wish& wish, CallSite at);

private:
    using Numbers = std::vector<std::int64_t>;

    // This rank's side of a call, checked.
    struct Side {
        ConstMemory given{nullptr, 0, Element::u8};  // up to the end of its last piece
        Memory got{nullptr, 0, Element::u8};
        Numbers sent_at, received_at;
        bool is_packed = true;
    };

    // What the ranks tell each other: a block for each, and from each, of as many bytes.
    struct Telling {
        std::vector<std::byte> sending, arriving;
        std::uint64_t block_bytes = 0;
        Request request;
        CallSite at;  // of the call
    };
    void check(const Wish& wish);
    bool is_checked(const ConstMemory& given, const Memory& got) const;
    void tell(Telling& telling, CallSite at);
    void resize(Telling& telling, std::uint64_t block_bytes) const;

    bool is_known(const Wish& wish) const;
    bool tell_whether_known(const Wish& wish, bool may_go_along, CallSite at);
    std::uint64_t room_for_known() const;
    bool known_go_along() const;

    bool tell_counts(const Wish& wish, bool may_go_along, CallSite at);
    void pack(const Wish& wish, bool may_go_along);
    void agree();

    void put_piece(const Wish& wish, int to, std::byte* place) const;
    void unpack(const Wish& wish, const Telling& told, std::uint64_t begin) const;
    Request request_for(CallSite at);

    Group& group_;
    Side side_;
    Telling counts_told_, known_told_;  // see Block and Notice in the source
    Numbers counts_;                    // of all pairs: [from * nranks + to]
    // The type for which all have told each other counts_; and once they have twice in a row, so
    // that the next call is probably like it.
    std::optional<Element> agreed_;
    std::optional<Element> known_;
    // The last call that was left to be made, and what it was for.
    struct Last {
        Side side;
        Numbers counts;
        CallSite at;
        Request request;
    };
    std::optional<Last> last_;
};

}  // namespace peal::comm
