// SPDX-License-Identifier: Apache-2.0
#include "hosts/pmix.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <pmix.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "hosts/variables.hpp"
#include "peal/error.hpp"
#include "peal/limits.hpp"
#include "shm/timeout.hpp"

namespace peal::hosts {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kAddressKey = "peal.rendezvous";
constexpr const char* kSecretKey = "peal.secret";

[[noreturn]] void fail_pmix(const char* what, pmix_status_t status) {
    throw Error(Fault::resource,
                fmt::format("cannot connect: PMIx: {}: {}", what, PMIx_Error_string(status)));
}

// A launcher takes a process that goes without this for one that crashed.
class Session {
public:
    Session() { status_ = PMIx_Init(&self_, nullptr, 0); }
    ~Session() {
        if (is_there()) PMIx_Finalize(nullptr, 0);
    }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    bool is_there() const { return status_ == PMIX_SUCCESS; }
    int rank() const { return static_cast<int>(self_.rank); }

    int number(const char* key) const {
        pmix_value_t* value = nullptr;
        const pmix_proc_t all = proc(PMIX_RANK_WILDCARD);
        const pmix_status_t status = PMIx_Get(&all, key, nullptr, 0, &value);
        if (status != PMIX_SUCCESS) fail_pmix(key, status);
        const std::uint32_t number = value->data.uint32;
        PMIX_VALUE_RELEASE(value);
        return static_cast<int>(number);
    }

    void put(const char* key, const std::string& text) const {
        pmix_value_t value;
        PMIX_VALUE_CONSTRUCT(&value);
        value.type = PMIX_STRING;
        value.data.string = const_cast<char*>(text.c_str());
        const pmix_status_t status = PMIx_Put(PMIX_GLOBAL, key, &value);
        if (status != PMIX_SUCCESS) fail_pmix(key, status);
    }

    void commit() const {
        const pmix_status_t status = PMIx_Commit();
        if (status != PMIX_SUCCESS) fail_pmix("commit", status);
    }

    // What rank 0 has put, once it has; nothing at the deadline. Nobody else is waited for, so that
    // the rendezvous can say who is missing.
    std::string of_first(const char* key, Clock::time_point deadline) const {
        const pmix_proc_t first = proc(0);
        for (;;) {
            pmix_info_t limit;
            int seconds = 1;
            PMIX_INFO_LOAD(&limit, PMIX_TIMEOUT, &seconds, PMIX_INT);
            pmix_value_t* value = nullptr;
            const pmix_status_t status = PMIx_Get(&first, key, &limit, 1, &value);
            PMIX_INFO_DESTRUCT(&limit);
            if (status == PMIX_SUCCESS && value->type == PMIX_STRING) {
                std::string text = value->data.string;
                PMIX_VALUE_RELEASE(value);
                return text;
            }
            if (Clock::now() >= deadline) return "";
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
    }

private:
    pmix_proc_t proc(pmix_rank_t rank) const {
        pmix_proc_t found = self_;
        found.rank = rank;
        return found;
    }

    pmix_proc_t self_{};
    pmix_status_t status_ = PMIX_ERROR;
};

// Of this machine, for others: the first interface that is up, has a cable, and is not its own
// loop.
std::string outward_address() {
    ifaddrs* all = nullptr;
    if (getifaddrs(&all) != 0) return "";
    const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> keeper(all, freeifaddrs);
    for (const int family : {AF_INET, AF_INET6}) {
        for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
            constexpr unsigned kUsable = IFF_UP | IFF_RUNNING;
            const bool fits = one->ifa_addr != nullptr && one->ifa_addr->sa_family == family &&
                              (one->ifa_flags & kUsable) == kUsable &&
                              (one->ifa_flags & IFF_LOOPBACK) == 0;
            if (!fits) continue;
            const socklen_t bytes = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
            char number[NI_MAXHOST] = "";
            getnameinfo(one->ifa_addr, bytes, number, sizeof number, nullptr, 0, NI_NUMERICHOST);
            return number;
        }
    }
    return "";
}

Address place_for_hub(bool is_one_host) {
    if (const char* const told = std::getenv(kListenVariable)) return {told, 0};
    if (is_one_host) return {"127.0.0.1", 0};
    std::string host = outward_address();
    if (host.empty()) {
        throw Error(Fault::usage,
                    fmt::format("cannot connect: this host has no address for others; set {} to "
                                "the one at which rank 0 is to listen",
                                kListenVariable));
    }
    return {std::move(host), 0};
}

}  // namespace

std::optional<PmixInvitation> invitation_by_pmix() {
    if (std::getenv("PMIX_NAMESPACE") == nullptr) return std::nullopt;
    const auto session = std::make_shared<Session>();
    if (!session->is_there()) return std::nullopt;
    PmixInvitation found;
    Invitation& invitation = found.invitation;
    invitation.rank = session->rank();
    invitation.nranks = session->number(PMIX_JOB_SIZE);
    if (invitation.nranks > kMaxRanks) {
        throw Error(Fault::usage, fmt::format("cannot connect: expected 1..{} ranks, found {}",
                                              kMaxRanks, invitation.nranks));
    }
    invitation.keeps = session;
    if (invitation.rank == 0) {
        invitation.secret = new_secret_text();
        invitation.address = place_for_hub(session->number(PMIX_LOCAL_SIZE) == invitation.nranks);
        found.listener = listen_at(invitation.address);
        session->put(kSecretKey, invitation.secret);
        session->put(kAddressKey, invitation.address.text());
        session->commit();
        return found;
    }
    const Clock::time_point deadline = shm::deadline_after(Clock::now(), shm::timeout_or(kToMeet));
    const std::string address = session->of_first(kAddressKey, deadline);
    if (address.empty()) {
        throw Error(Fault::bound,
                    fmt::format("timeout: rank {} of {} waited too long for rank 0 to come",
                                invitation.rank, invitation.nranks));
    }
    invitation.address = address_from(address, kAddressKey);
    invitation.secret = session->of_first(kSecretKey, deadline);
    return found;
}

}  // namespace peal::hosts
