// SPDX-License-Identifier: Apache-2.0
#include "hosts/local_world.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "base/descriptor.hpp"
#include "base/thread.hpp"
#include "hosts/secret.hpp"
#include "hosts/text_wire.hpp"
#include "hosts/waiting.hpp"
#include "peal/error.hpp"
#include "shm/deadline.hpp"
#include "shm/process_memory.hpp"
#include "shm/question.hpp"

namespace peal::hosts {
namespace {

using base::Descriptor;

constexpr std::chrono::milliseconds kToHandOver{10'000};

[[noreturn]] void refuse_to_share(const char* what) {
    throw Error(Fault::resource, fmt::format("cannot share memory with the other ranks of this "
                                             "host: {}: {}",
                                             what, std::strerror(errno)));
}

// Two processes with the same text can share memory: one kernel, which shows them the same
// sockets, processes and user.
std::string what_is_shared() {
    std::string boot;
    std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
    std::string text = fmt::format("{} {}", boot, geteuid());
    for (const char* space : {"net", "ipc", "pid", "uts"}) {
        struct stat status = {};
        stat(fmt::format("/proc/self/ns/{}", space).c_str(), &status);
        text += fmt::format(" {}", status.st_ino);
    }
    return text;
}

// A name that is nowhere in the file system and goes with its socket.
sockaddr_un hidden_address(const std::string& name, socklen_t& bytes) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    const std::size_t letters = std::min(name.size(), sizeof address.sun_path - 1);
    std::memcpy(address.sun_path + 1, name.data(), letters);
    bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + letters);
    return address;
}

Descriptor unix_socket() { return Descriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

// Room for one byte and, beside it, one descriptor.
struct DescriptorMessage {
    DescriptorMessage() {
        header.msg_iov = &data;
        header.msg_iovlen = 1;
        header.msg_control = control;
        header.msg_controllen = sizeof control;
    }
    DescriptorMessage(const DescriptorMessage&) = delete;
    DescriptorMessage& operator=(const DescriptorMessage&) = delete;

    char byte = 0;
    iovec data = {&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr header = {};
};

// The descriptor of the world, to each who asks, and nobody of another user.
void hand_over(int listener, int world, std::size_t times) {
    while (times > 0 && wait_for(listener, POLLIN, shm::from_now(kToHandOver))) {
        const Descriptor one(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
        ucred other = {};
        socklen_t bytes = sizeof other;
        if (!one || getsockopt(one.get(), SOL_SOCKET, SO_PEERCRED, &other, &bytes) != 0 ||
            other.uid != geteuid()) {
            continue;
        }
        DescriptorMessage message;
        cmsghdr* const head = CMSG_FIRSTHDR(&message.header);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(head), &world, sizeof world);
        if (sendmsg(one.get(), &message.header, MSG_NOSIGNAL) == 1) --times;
    }
}

Descriptor take_over(const std::string& name) {
    const Descriptor socket = unix_socket();
    socklen_t bytes = 0;
    const sockaddr_un address = hidden_address(name, bytes);
    if (!socket || connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), bytes) != 0) {
        refuse_to_share("connect");
    }
    DescriptorMessage message;
    if (!wait_for(socket.get(), POLLIN, shm::from_now(kToHandOver)) ||
        recvmsg(socket.get(), &message.header, MSG_CMSG_CLOEXEC) <= 0) {
        refuse_to_share("recvmsg");
    }
    const cmsghdr* const head = CMSG_FIRSTHDR(&message.header);
    if (head == nullptr || head->cmsg_type != SCM_RIGHTS) refuse_to_share("no descriptor");
    int world = -1;
    std::memcpy(&world, CMSG_DATA(head), sizeof world);
    return Descriptor(world);
}

// By rank: the number of its host, counted in the order of their first ranks.
std::vector<int> numbered(const std::vector<std::string>& shared) {
    std::vector<std::string> seen;
    std::vector<int> ids;
    for (const std::string& text : shared) {
        const auto place = std::find(seen.begin(), seen.end(), text);
        ids.push_back(static_cast<int>(place - seen.begin()));
        if (place == seen.end()) seen.push_back(text);
    }
    return ids;
}

// How many of them begin as this one, with the same boot of the same kernel: they use the same
// cores, whether or not they can share memory.
int on_this_machine(const std::vector<std::string>& shared, const std::string& own) {
    const std::string boot = own.substr(0, own.find(' ') + 1);
    return static_cast<int>(
        std::count_if(shared.begin(), shared.end(),
                      [&](const std::string& text) { return text.starts_with(boot); }));
}

// What a launcher has left tells its ranks apart from those of another on the same machine.
std::string launchers_mark() {
    const char* const world = std::getenv(shm::kWorldVariable);
    if (world == nullptr) return "";
    struct stat status = {};
    stat(fmt::format("/proc/self/fd/{}", world).c_str(), &status);
    return fmt::format(" world {}", status.st_ino);
}

LocalWorld found_with_others(Meeting& meeting) {
    const bool has_launcher = std::getenv(shm::kWorldVariable) != nullptr;
    LocalWorld found;
    const std::string own = what_is_shared() + launchers_mark();
    const std::vector<std::string> shared = meeting.exchange(own);
    found.host_ids = numbered(shared);
    found.ranks_on_machine = on_this_machine(shared, own);
    const auto self = static_cast<std::size_t>(meeting.rank());
    const auto is_local = [&](std::size_t r) { return found.host_ids[r] == found.host_ids[self]; };
    std::size_t first = 0;
    while (!is_local(first)) ++first;

    // A name for the socket, from the first rank of each host.
    Descriptor listener;
    std::string name;
    const bool is_maker = !has_launcher && first == self;
    if (is_maker) {
        name = "peal-" + new_secret_text();
        listener = unix_socket();
        socklen_t bytes = 0;
        const sockaddr_un address = hidden_address(name, bytes);
        if (!listener ||
            bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), bytes) != 0 ||
            listen(listener.get(), SOMAXCONN) != 0) {
            refuse_to_share("listen");
        }
    }
    const std::vector<std::string> names = meeting.exchange(name);
    if (has_launcher) {
        found.place = shm::join_world();
        return found;
    }
    if (is_maker) {
        found.place.world = shm::World::create(meeting.nranks());
        std::size_t others = 0;
        for (std::size_t r = 0; r < names.size(); ++r) others += r != self && is_local(r);
        hand_over(listener.get(), found.place.world->descriptor(), others);
    } else {
        found.place.world = shm::World::adopt(take_over(names[first]).release());
    }
    found.place.rank = meeting.rank();
    shm::take_questions();  // with a launcher they go there
    shm::admit_siblings();
    found.place.world->enter(found.place.rank);
    return found;
}

}  // namespace

LocalWorld find_local_world(Meeting& meeting) {
    return or_fail(meeting, [&] { return found_with_others(meeting); });
}

}  // namespace peal::hosts
