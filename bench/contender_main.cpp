// SPDX-License-Identifier: Apache-2.0
#include "contender_main.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <exception>

#include "measure.hpp"

namespace peal::bench {
namespace {

constexpr std::size_t kLongestOrder = 256;

int connect_to(const std::string& path) {
    const int line = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    if (connect(line, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
        close(line);
        return -1;
    }
    return line;
}

bool say(int line, const std::string& text) {
    return send(line, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

// After trouble in the library the ranks may be out of step: this one answers and leaves at once.
[[noreturn]] void give_up(int line, const std::string& trouble) {
    Answer answer;
    answer.trouble = trouble;
    say(line, print(answer));
    _exit(1);
}

}  // namespace

std::string socket_path(const std::string& directory) { return directory + "/orders"; }
std::string hall_path(const std::string& directory) { return directory + "/hall"; }

int serve(Contender& contender, const std::string& directory) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // whoever started the rank takes it along
    const int line = connect_to(socket_path(directory));
    if (line < 0 || !say(line, fmt::format("{} {}", contender.rank(), getpid()))) return 1;
    Meeting meeting(hall_path(directory), contender.nranks());
    std::array<char, kLongestOrder> text{};
    for (;;) {
        const ssize_t length = recv(line, text.data(), text.size(), 0);
        if (length <= 0) break;
        try {
            const Order order = parse_order({text.data(), static_cast<std::size_t>(length)});
            if (!say(line, print(measure(contender, meeting, order)))) break;
        } catch (const std::exception& error) {
            give_up(line, error.what());
        }
    }
    close(line);
    return 0;
}

}  // namespace peal::bench
