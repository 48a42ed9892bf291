// SPDX-License-Identifier: Apache-2.0
// What each rank is told when calls go wrong.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "peal/communicator.hpp"
#include "peal/error.hpp"
#include "support/patterns.hpp"

namespace peal::comm::test {

// A message without the lines of the tests that it names.
inline std::string without_sites(const std::string& message) {
    return peal::test::replaced(message, ", at [^ :]+:[0-9]+", "");
}

// "" if nothing was thrown.
inline std::string told_by(const std::function<void()>& act) {
    try {
        act();
    } catch (const Error& error) {
        return without_sites(error.what());
    }
    return "";
}

// What `body` throws on each of n threads. Nobody leaves before `body` has ended everywhere.
inline std::vector<std::string> told(int nranks, const std::function<void(Communicator&)>& body) {
    std::vector<std::string> messages(static_cast<std::size_t>(nranks));
    std::atomic<int> ended = 0;
    Communicator::threads(nranks, [&](Communicator& comm) {
        messages[static_cast<std::size_t>(comm.rank())] = told_by([&] { body(comm); });
        ended.fetch_add(1);
        ended.notify_all();
        for (int seen = ended.load(); seen < nranks; seen = ended.load()) ended.wait(seen);
    });
    return messages;
}

}  // namespace peal::comm::test
