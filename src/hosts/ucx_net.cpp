// SPDX-License-Identifier: Apache-2.0
#include "hosts/ucx_net.hpp"

#include <poll.h>
#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "hosts/text_wire.hpp"
#include "peal/error.hpp"

namespace peal::hosts {
namespace {

// Between "lane[0]:  2:" and "/": "tcp".
std::vector<std::string> transports_in(std::string_view info) {
    std::vector<std::string> names;
    for (std::size_t at = info.find("lane["); at != std::string_view::npos;
         at = info.find("lane[", at + 1)) {
        const std::size_t colon = info.find(':', info.find(':', at) + 1);
        const std::size_t slash = info.find('/', colon);
        if (slash == std::string_view::npos) break;
        std::string name(info.substr(colon + 1, slash - colon - 1));
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    return names;
}

std::vector<std::string> transports_of(ucp_ep_h endpoint) {
    char* text = nullptr;
    std::size_t length = 0;
    FILE* const stream = open_memstream(&text, &length);
    if (stream == nullptr) return {};
    ucp().ep_print_info(endpoint, stream);
    std::fclose(stream);
    std::vector<std::string> names = transports_in({text, length});
    std::free(text);
    return names;
}

// Whether some transport reaches memory without the other process.
bool has_adapter(const std::vector<std::string>& transports) {
    static constexpr std::array<std::string_view, 3> kWithout = {"tcp", "posix", "sysv"};
    return !std::all_of(transports.begin(), transports.end(), [](const std::string& name) {
        return std::find(kWithout.begin(), kWithout.end(), name) != kWithout.end();
    });
}

// A put of so many bytes waits for what is told of it: it goes in the same message. A larger one is
// under way meanwhile.
constexpr std::uint64_t kMostHeld = 8 << 10;

// The system rounds what a thread sleeps up by 50 us, unless it is asked not to.
class ShortTimers {
public:
    ShortTimers() : before_(prctl(PR_GET_TIMERSLACK)) { prctl(PR_SET_TIMERSLACK, 1UL); }
    ~ShortTimers() { prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(before_)); }
    ShortTimers(const ShortTimers&) = delete;
    ShortTimers& operator=(const ShortTimers&) = delete;

private:
    const int before_;
};

}  // namespace

void expect_ok(ucs_status_t status, const char* what) {
    if (status == UCS_OK) return;
    throw Error(Fault::resource, fmt::format("cannot reach other hosts: UCX: {}: {}", what,
                                             ucp().status_string(status)));
}

UcxNet::UcxNet(int rank, bool is_direct) : rank_(rank), is_direct_(is_direct), worker_(context_) {
    listen();
}

// ---------------------------------------------------------------------------- memory

struct UcxNet::UcxOffer final : Offer {
    UcxOffer(UcxNet& the_net, std::byte* begin, std::uint64_t bytes) : net(the_net) {
        ucp_mem_map_params_t params{};
        params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
        params.address = begin;
        params.length = bytes;
        const std::lock_guard lock(net.mutex_);
        expect_ok(ucp().mem_map(net.context_.handle, &params, &memory), "memory is not accepted");
        void* packed = nullptr;
        std::size_t length = 0;
        const ucs_status_t status = ucp().rkey_pack(net.context_.handle, memory, &packed, &length);
        if (status != UCS_OK) ucp().mem_unmap(net.context_.handle, memory);
        expect_ok(status, "memory has no key");
        number = ++net.offers_made_;
        net.offers_[number] = {begin, bytes};
        Packer packer;
        packer.wide(number).wide(reinterpret_cast<std::uint64_t>(begin));
        text = packer.text({static_cast<const char*>(packed), length}).bytes();
        ucp().rkey_buffer_release(packed);
    }
    ~UcxOffer() override {
        const std::lock_guard lock(net.mutex_);
        net.offers_.erase(number);
        ucp().mem_unmap(net.context_.handle, memory);
    }
    const std::string& key() const override { return text; }

    UcxNet& net;
    std::uint64_t number = 0;
    ucp_mem_h memory = nullptr;
    std::string text;
};

UcxNet::UcxRemote::UcxRemote(UcxNet& the_net, Peer& the_peer, std::string_view key)
    : net(the_net), of(the_peer) {
    Unpacker unpacker(key);
    number = unpacker.wide();
    address = unpacker.wide();
    packed = unpacker.text();
    if (!unpacker.is_over()) {
        throw Error(Fault::wrong, fmt::format("rank {} gave no key to its memory", of.rank));
    }
}

UcxNet::UcxRemote::~UcxRemote() {
    const std::lock_guard lock(net.mutex_);
    if (handle != nullptr) ucp().rkey_destroy(handle);
}

std::unique_ptr<Offer> UcxNet::offer(std::byte* begin, std::uint64_t bytes) {
    return std::make_unique<UcxOffer>(*this, begin, bytes);
}

std::unique_ptr<Remote> UcxNet::reach(int rank, std::string_view key) {
    const std::lock_guard lock(mutex_);
    return std::make_unique<UcxRemote>(*this, peer(rank), key);
}

// ---------------------------------------------------------------------------- ranks

std::string UcxNet::address() const {
    const std::lock_guard lock(mutex_);
    ucp_address_t* address = nullptr;
    std::size_t length = 0;
    expect_ok(ucp().worker_get_address(worker_.handle, &address, &length), "no address");
    std::string text(reinterpret_cast<const char*>(address), length);
    ucp().worker_release_address(worker_.handle, address);
    return text;
}

void UcxNet::know(int rank, std::string address) {
    const std::lock_guard lock(mutex_);
    peer(rank).address = std::move(address);
    send(message({.kind = Kind::hello}, peer(rank), nullptr, 0, nullptr));
}

bool UcxNet::is_connected(int rank) const {
    const std::lock_guard lock(mutex_);
    const auto found = peers_.find(rank);
    return found != peers_.end() && found->second.has_heard_us && found->second.was_heard;
}

ucp_ep_h UcxNet::endpoint_of(Peer& peer) const {
    if (peer.trouble) return nullptr;
    if (peer.endpoint != nullptr) return peer.endpoint;
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                        UCP_EP_PARAM_FIELD_ERR_HANDLER;
    params.address = reinterpret_cast<const ucp_address_t*>(peer.address.data());
    params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    params.err_handler.cb = &broken;
    params.err_handler.arg = &peer;
    const ucs_status_t status = ucp().ep_create(worker_.handle, &params, &peer.endpoint);
    if (status != UCS_OK) {
        peer.endpoint = nullptr;
        note(peer, status);
        return nullptr;
    }
    peer.is_by_mail = !is_direct_ && !has_adapter(transports_of(peer.endpoint));
    return peer.endpoint;
}

void UcxNet::broken(void* peer, ucp_ep_h /*endpoint*/, ucs_status_t status) {
    note(*static_cast<Peer*>(peer), status);
}

std::optional<std::string> UcxNet::trouble(int rank) const {
    const std::lock_guard lock(mutex_);
    const auto found = peers_.find(rank);
    return found == peers_.end() ? std::nullopt : found->second.trouble;
}

std::string UcxNet::transport(int rank) {
    const std::lock_guard lock(mutex_);
    ucp_ep_h const endpoint = endpoint_of(peer(rank));
    std::string text;
    if (endpoint == nullptr) return text;
    for (const std::string& name : transports_of(endpoint)) {
        text += (text.empty() ? "" : " and ") + name;
    }
    return text;
}

// By mail a line is copied by the other process while it makes progress, and nobody there looks
// meanwhile: see catch_up(). An adapter that writes by itself promises nothing.
bool UcxNet::keeps_lines(int rank) {
    const std::lock_guard lock(mutex_);
    Peer& of = peer(rank);
    return endpoint_of(of) != nullptr && of.is_by_mail;
}

// ---------------------------------------------------------------------------- operations

ucp_request_param_t UcxNet::counted(Peer& peer, const Flight& in) {
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    param.cb.send = &done;
    param.user_data = new Ticket{&peer, in.begin()};
    return param;
}

// What is not under way now was done at once, well or not: there is no other call of done().
void UcxNet::settle(const ucp_request_param_t& param, ucs_status_ptr_t request) {
    const bool is_under_way = request != nullptr && !UCS_PTR_IS_ERR(request);
    if (!is_under_way) done(nullptr, UCS_PTR_STATUS(request), param.user_data);
}

void UcxNet::done(void* request, ucs_status_t status, void* ticket) {
    const std::unique_ptr<Ticket> of(static_cast<Ticket*>(ticket));
    if (status != UCS_OK) note(*of->peer, status);
    Flight::end(of->share);
    if (request != nullptr) ucp().request_free(request);
}

ucp_rkey_h UcxNet::key_of(UcxRemote& memory) {
    if (memory.handle == nullptr) {
        const ucs_status_t status =
            ucp().ep_rkey_unpack(memory.of.endpoint, memory.packed.data(), &memory.handle);
        if (status != UCS_OK) note(memory.of, status);
    }
    return memory.handle;
}

void UcxNet::put_now(const Flight& in, UcxRemote& to, std::uint64_t offset, const std::byte* from,
                     std::uint64_t bytes) {
    ucp_rkey_h const key = key_of(to);
    if (key == nullptr) return;
    const ucp_request_param_t param = counted(to.of, in);
    settle(param, ucp().put_nbx(to.of.endpoint, from, bytes, to.address + offset, key, &param));
}

void UcxNet::flush_now(const Flight& in, Peer& peer) {
    const ucp_request_param_t param = counted(peer, in);
    settle(param, ucp().ep_flush_nbx(peer.endpoint, &param));
}

void UcxNet::put(const Flight& in, Remote& to, std::uint64_t offset, const std::byte* from,
                 std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    auto& memory = static_cast<UcxRemote&>(to);
    if (endpoint_of(memory.of) == nullptr) return;
    if (!memory.of.is_by_mail) return put_now(in, memory, offset, from, bytes);
    const Head head{.kind = Kind::put, .memory = memory.number, .offset = offset};
    if (bytes > kMostHeld) return send_pieces(head, memory.of, from, bytes, &in);
    let_go(memory.of);
    memory.of.held = message(head, memory.of, from, bytes, &in);
    const bool is_known = std::find(holding_.begin(), holding_.end(), &memory.of) != holding_.end();
    if (!is_known) holding_.push_back(&memory.of);
}

void UcxNet::tell(const Flight& in, const Flight* flushed, Remote& to, std::uint64_t offset,
                  const std::byte* from, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    auto& memory = static_cast<UcxRemote&>(to);
    if (endpoint_of(memory.of) == nullptr) return;
    if (!memory.of.is_by_mail) {
        ucp().worker_fence(worker_.handle);
        put_now(in, memory, offset, from, bytes);
        if (flushed != nullptr) flush_now(*flushed, memory.of);
        return;
    }
    Word word{memory.number, offset, bytes, {}};
    std::memcpy(word.data.data(), from, bytes);
    const std::uint64_t question = flushed != nullptr ? ask({&memory.of, flushed->begin()}) : 0;
    send_word(memory.of, word, question);
}

void UcxNet::get(const Flight& in, std::byte* to, Remote& from, std::uint64_t offset,
                 std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    auto& memory = static_cast<UcxRemote&>(from);
    ucp_ep_h const endpoint = endpoint_of(memory.of);
    if (endpoint == nullptr) return;
    if (memory.of.is_by_mail) {
        const Head head{.kind = Kind::get,
                        .memory = memory.number,
                        .offset = offset,
                        .bytes = bytes,
                        .question = ask({&memory.of, in.begin(), to, bytes, nullptr})};
        return send(message(head, memory.of, nullptr, 0, nullptr));
    }
    ucp_rkey_h const key = key_of(memory);
    if (key == nullptr) return;
    const ucp_request_param_t param = counted(memory.of, in);
    settle(param, ucp().get_nbx(endpoint, to, bytes, memory.address + offset, key, &param));
}

void UcxNet::add(const Flight& in, Remote& to, std::uint64_t offset, std::int64_t value, int bytes,
                 std::int64_t* before) {
    const std::lock_guard lock(mutex_);
    auto& memory = static_cast<UcxRemote&>(to);
    ucp_ep_h const endpoint = endpoint_of(memory.of);
    if (endpoint == nullptr) return;
    if (memory.of.is_by_mail) {
        const Head head{.kind = Kind::add,
                        .memory = memory.number,
                        .offset = offset,
                        .bytes = static_cast<std::uint64_t>(bytes),
                        .value = value,
                        .question = ask({&memory.of, in.begin(), nullptr, 0, before})};
        return send(message(head, memory.of, nullptr, 0, nullptr));
    }
    ucp_rkey_h const key = key_of(memory);
    if (key == nullptr) return;
    ucp_request_param_t param = counted(memory.of, in);
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER;
    param.datatype = ucp_dt_make_contig(static_cast<std::size_t>(bytes));
    param.reply_buffer = before;
    settle(param, ucp().atomic_op_nbx(endpoint, UCP_ATOMIC_OP_ADD, &value, 1,
                                      memory.address + offset, key, &param));
}

// By mail there is one order anyway.
void UcxNet::fence() {
    const std::lock_guard lock(mutex_);
    ucp().worker_fence(worker_.handle);
}

// By mail: what came before the question has been done when it is answered.
void UcxNet::flush(const Flight& in, int rank) {
    const std::lock_guard lock(mutex_);
    Peer& of = peer(rank);
    if (endpoint_of(of) == nullptr) return;
    if (!of.is_by_mail) return flush_now(in, of);
    const Head head{.kind = Kind::flush, .question = ask({&of, in.begin()})};
    send(message(head, of, nullptr, 0, nullptr));
}

// ---------------------------------------------------------------------------- waiting, and the end

// Armed, the descriptor becomes readable with the next event; what came before keeps it from being
// armed.
void UcxNet::nap(std::chrono::microseconds limit) {
    {
        const std::lock_guard lock(mutex_);
        let_all_go();
        if (ucp().worker_arm(worker_.handle) != UCS_OK) return;
    }
    pollfd events{worker_.events, POLLIN, 0};
    const timespec time{limit.count() / 1'000'000, limit.count() % 1'000'000 * 1000};
    const ShortTimers timers;
    ppoll(&events, 1, &time, nullptr);
}

// What is still under way is given up: whoever wanted it complete has flushed it.
UcxNet::~UcxNet() {
    const std::lock_guard lock(mutex_);
    let_all_go();
    std::vector<ucs_status_ptr_t> closing;
    for (auto& [rank, peer] : peers_) {
        if (peer.endpoint == nullptr) continue;
        ucp_request_param_t param{};
        param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
        param.flags = UCP_EP_CLOSE_FLAG_FORCE;
        const ucs_status_ptr_t request = ucp().ep_close_nbx(peer.endpoint, &param);
        if (request != nullptr && !UCS_PTR_IS_ERR(request)) closing.push_back(request);
    }
    for (int i = 0; i < 1000; ++i) ucp().worker_progress(worker_.handle);
    for (const ucs_status_ptr_t request : closing) ucp().request_free(request);
}

std::unique_ptr<Net> open_net(int rank, bool is_direct) {
    return std::make_unique<UcxNet>(rank, is_direct);
}

}  // namespace peal::hosts
