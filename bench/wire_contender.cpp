// SPDX-License-Identifier: Apache-2.0
// The network between two hosts as a contender: what no library can beat, measured by the same
// method, by one rank on each.
//
//   put       one puts to the other by UCX and rings behind a fence, in turns; one way
//   tcp       the same as a plain stream of TCP
//   tcp_both  both send and receive at once: what a host must give and take of an allreduce
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "contender_main.hpp"
#include "hosts/ucx_net.hpp"

namespace peal::bench {
namespace {

[[noreturn]] void fail(const std::string& what) {
    throw std::system_error(errno, std::generic_category(), what);
}

// Of the first interface that is up and leads elsewhere.
sockaddr_in own_address() {
    ifaddrs* all = nullptr;
    if (getifaddrs(&all) != 0) fail("getifaddrs");
    sockaddr_in found{};
    for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
        if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
        if ((one->ifa_flags & IFF_LOOPBACK) != 0 || found.sin_family == AF_INET) continue;
        found = *reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
    }
    freeifaddrs(all);
    if (found.sin_family != AF_INET) throw std::runtime_error("no network");
    return found;
}

// Two ranks and a connection of TCP between them. Where rank 0 listens stands in a file.
class Stream {
public:
    Stream(const std::string& directory, int rank)
        : socket_(rank == 0 ? accepted(directory) : connected(directory)) {
        const int yes = 1;
        setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    }
    ~Stream() { close(socket_); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    // Both at once, at most so much with each call of the system, without waiting for either.
    static constexpr std::size_t kWhole = std::numeric_limits<std::size_t>::max();
    void move(const void* out, std::size_t send, void* in, std::size_t receive,
              std::size_t piece = kWhole) const {
        const auto* from = static_cast<const std::byte*>(out);
        auto* to = static_cast<std::byte*>(in);
        while (send > 0 || receive > 0) {
            if (send > 0) {
                const std::size_t gone =
                    moved(::send(socket_, from, std::min(send, piece), kFlags));
                from += gone;
                send -= gone;
            }
            if (receive > 0) {
                const std::size_t come =
                    moved(::recv(socket_, to, std::min(receive, piece), MSG_DONTWAIT));
                to += come;
                receive -= come;
            }
        }
    }

    // The other's text for the own.
    std::string exchange(const std::string& own) const {
        std::uint64_t size = own.size(), other = 0;
        move(&size, sizeof size, &other, sizeof other);
        std::string text(other, '\0');
        move(own.data(), own.size(), text.data(), other);
        return text;
    }

private:
    static constexpr int kFlags = MSG_DONTWAIT | MSG_NOSIGNAL;

    static std::size_t moved(ssize_t bytes) {
        if (bytes > 0) return static_cast<std::size_t>(bytes);
        if (bytes == 0) throw std::runtime_error("the other has hung up");
        if (errno != EAGAIN && errno != EINTR) fail("TCP");
        return 0;
    }

    static int accepted(const std::string& directory) {
        const int door = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address = own_address();
        socklen_t length = sizeof address;
        if (bind(door, reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
            listen(door, 1) != 0 ||
            getsockname(door, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
            fail("listen");
        }
        const std::string file = directory + "/wire";
        std::ofstream(file + "~") << address.sin_addr.s_addr << ' ' << address.sin_port;
        std::filesystem::rename(file + "~", file);  // whole from the first look
        const int line = accept4(door, nullptr, nullptr, SOCK_CLOEXEC);
        close(door);
        return line < 0 ? (fail("accept"), -1) : line;
    }

    static int connected(const std::string& directory) {
        const std::string file = directory + "/wire";
        while (!std::filesystem::exists(file)) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        sockaddr_in address{};
        address.sin_family = AF_INET;
        std::ifstream(file) >> address.sin_addr.s_addr >> address.sin_port;
        const int line = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(line, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
            fail("connect");
        }
        return line;
    }

    int socket_;
};

// Memory that the other puts to.
class Shown {
public:
    Shown(const hosts::Context& context, void* begin, std::size_t bytes) : context_(context) {
        ucp_mem_map_params_t params{};
        params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
        params.address = begin;
        params.length = bytes;
        hosts::expect_ok(hosts::ucp().mem_map(context_.handle, &params, &memory_), "memory");
        void* packed = nullptr;
        std::size_t length = 0;
        hosts::expect_ok(hosts::ucp().rkey_pack(context_.handle, memory_, &packed, &length), "key");
        const auto address = reinterpret_cast<std::uint64_t>(begin);
        key_.assign(reinterpret_cast<const char*>(&address), sizeof address);
        key_.append(static_cast<const char*>(packed), length);
        hosts::ucp().rkey_buffer_release(packed);
    }
    ~Shown() { hosts::ucp().mem_unmap(context_.handle, memory_); }
    Shown(const Shown&) = delete;
    Shown& operator=(const Shown&) = delete;

    const std::string& key() const { return key_; }

private:
    const hosts::Context& context_;
    ucp_mem_h memory_ = nullptr;
    std::string key_;
};

// The other's memory.
class Seen {
public:
    Seen(ucp_ep_h endpoint, const std::string& key) : endpoint_(endpoint) {
        std::memcpy(&address_, key.data(), sizeof address_);
        hosts::expect_ok(
            hosts::ucp().ep_rkey_unpack(endpoint, key.data() + sizeof address_, &handle_), "key");
    }
    ~Seen() { hosts::ucp().rkey_destroy(handle_); }
    Seen(const Seen&) = delete;
    Seen& operator=(const Seen&) = delete;

    // Counts in `under_way` while `from` must stay.
    void put(const void* from, std::size_t bytes, int& under_way) const {
        ucp_request_param_t param{};
        param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
        param.cb.send = &done;
        param.user_data = &under_way;
        const ucs_status_ptr_t request =
            hosts::ucp().put_nbx(endpoint_, from, bytes, address_, handle_, &param);
        if (UCS_PTR_IS_ERR(request)) hosts::expect_ok(UCS_PTR_STATUS(request), "put");
        if (request != nullptr) ++under_way;
    }

private:
    static void done(void* request, ucs_status_t /*status*/, void* under_way) {
        --*static_cast<int*>(under_way);
        hosts::ucp().request_free(request);
    }

    ucp_ep_h endpoint_;
    std::uint64_t address_ = 0;
    ucp_rkey_h handle_ = nullptr;
};

class Puts {
public:
    explicit Puts(const Stream& stream) : stream_(stream), worker_(context_) {
        ucp_address_t* address = nullptr;
        std::size_t length = 0;
        hosts::expect_ok(hosts::ucp().worker_get_address(worker_.handle, &address, &length),
                         "address");
        const std::string other = stream.exchange({reinterpret_cast<const char*>(address), length});
        hosts::ucp().worker_release_address(worker_.handle, address);
        ucp_ep_params_t params{};
        params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
        params.address = reinterpret_cast<const ucp_address_t*>(other.data());
        hosts::expect_ok(hosts::ucp().ep_create(worker_.handle, &params, &endpoint_), "endpoint");
    }

    // Call by call, one of the two puts and the other waits.
    Operation bind(const Job& job, int rank) {
        const std::size_t bytes = job.shape.block * sizeof(float);
        passes_ = 0;
        cell_.store(0, std::memory_order_relaxed);
        auto own = std::make_shared<Shown>(context_, job.output, bytes);
        auto own_cell = std::make_shared<Shown>(context_, &cell_, sizeof cell_);
        auto other = std::make_shared<Seen>(endpoint_, stream_.exchange(own->key()));
        auto cell = std::make_shared<Seen>(endpoint_, stream_.exchange(own_cell->key()));
        return [=, this, from = job.input](std::uint64_t) {
            ++passes_;
            if (passes_ % 2 != static_cast<std::uint64_t>(rank)) {
                told_ = passes_;
                other->put(from, bytes, under_way_);
                hosts::ucp().worker_fence(worker_.handle);
                cell->put(&told_, sizeof told_, under_way_);
                while (under_way_ > 0) progress();
            } else {
                while (cell_.load(std::memory_order_acquire) < passes_) progress();
            }
            (void)own, (void)own_cell;
        };
    }

private:
    void progress() { hosts::ucp().worker_progress(worker_.handle); }

    const Stream& stream_;
    hosts::Context context_;
    hosts::Worker worker_;
    ucp_ep_h endpoint_ = nullptr;
    std::uint64_t passes_ = 0, told_ = 0;
    int under_way_ = 0;
    std::atomic<std::uint64_t> cell_ = 0;
};

class WireContender final : public Contender {
public:
    WireContender(const std::string& directory, int rank, int nranks)
        : rank_(rank), nranks_(nranks), stream_(directory, rank), puts_(stream_) {}
    int rank() const override { return rank_; }
    int nranks() const override { return nranks_; }
    Operation bind(const Job& job) override {
        const std::size_t bytes = job.shape.block * sizeof(float);
        const std::size_t piece = job.way == "pieces" ? kPiece : Stream::kWhole;
        const float* in = job.input;
        float* out = job.output;
        switch (job.task) {
            case Task::put: return puts_.bind(job, rank_);
            case Task::tcp:
                return [=, this](std::uint64_t iteration) {
                    const bool sends = root_of(iteration, nranks_) == rank_;
                    stream_.move(in, sends ? bytes : 0, out, sends ? 0 : bytes, piece);
                };
            case Task::tcp_both:
                return [=, this](std::uint64_t) { stream_.move(in, bytes, out, bytes, piece); };
            default: throw std::runtime_error("not a limit: " + std::string(name(job.task)));
        }
    }

private:
    // Stays in a cache from one end to the other.
    static constexpr std::size_t kPiece = 128 << 10;

    int rank_;
    int nranks_;
    Stream stream_;
    Puts puts_;
};

}  // namespace
}  // namespace peal::bench

// wire_contender DIRECTORY RANK NRANKS
int main(int argc, char** argv) {
    if (argc != 4) return 2;
    peal::bench::WireContender contender(argv[1], std::atoi(argv[2]), std::atoi(argv[3]));
    // There is nothing to wait for at the end, and UCX would.
    std::_Exit(peal::bench::serve(contender, argv[1]));
}
