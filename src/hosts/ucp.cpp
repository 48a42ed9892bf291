// SPDX-License-Identifier: Apache-2.0
#include "hosts/ucp.hpp"

#include <dlfcn.h>

#include <cstdlib>

#include <fmt/format.h>

#include "peal/error.hpp"

namespace peal::hosts {
namespace {

void* open_library(const char* name) {
    // Looked up by others, too: UCX loads its transports itself.
    void* const library = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr) {
        throw Error(Fault::resource, fmt::format("cannot reach other hosts: {}; install UCX "
                                                 "(Debian: libucx0)",
                                                 dlerror()));
    }
    return library;
}

class Library {
public:
    explicit Library(const char* name) : name_(name), handle_(open_library(name)) {}

    template <class Function>
    void find(Function& function, const char* symbol) const {
        function = reinterpret_cast<Function>(dlsym(handle_, symbol));
        if (function == nullptr) {
            throw Error(Fault::resource, fmt::format("cannot reach other hosts: {} has no {}; "
                                                     "install UCX 1.12 or later",
                                                     name_, symbol));
        }
    }

private:
    const char* name_;
    void* handle_;
};

Ucp load() {
    // A program's signals and its exit are its own. Who wants UCX to print where it crashed says
    // so.
    setenv("UCX_HANDLE_ERRORS", "none", 0);
    // Twice to three times as fast as the 8 KiB that it takes by itself.
    setenv("UCX_TCP_TX_SEG_SIZE", "128k", 0);
    setenv("UCX_TCP_RX_SEG_SIZE", "128k", 0);
    const Library ucp("libucp.so.0"), ucs("libucs.so.0");
    Ucp api{};
    ucp.find(api.config_read, "ucp_config_read");
    ucp.find(api.config_modify, "ucp_config_modify");
    ucp.find(api.config_release, "ucp_config_release");
    ucp.find(api.init_version, "ucp_init_version");
    ucp.find(api.cleanup, "ucp_cleanup");
    ucp.find(api.worker_create, "ucp_worker_create");
    ucp.find(api.worker_destroy, "ucp_worker_destroy");
    ucp.find(api.worker_get_address, "ucp_worker_get_address");
    ucp.find(api.worker_release_address, "ucp_worker_release_address");
    ucp.find(api.worker_progress, "ucp_worker_progress");
    ucp.find(api.worker_get_efd, "ucp_worker_get_efd");
    ucp.find(api.worker_arm, "ucp_worker_arm");
    ucp.find(api.worker_fence, "ucp_worker_fence");
    ucp.find(api.worker_set_am_recv_handler, "ucp_worker_set_am_recv_handler");
    ucp.find(api.ep_create, "ucp_ep_create");
    ucp.find(api.ep_close_nbx, "ucp_ep_close_nbx");
    ucp.find(api.ep_flush_nbx, "ucp_ep_flush_nbx");
    ucp.find(api.ep_print_info, "ucp_ep_print_info");
    ucp.find(api.mem_map, "ucp_mem_map");
    ucp.find(api.mem_unmap, "ucp_mem_unmap");
    ucp.find(api.rkey_pack, "ucp_rkey_pack");
    ucp.find(api.rkey_buffer_release, "ucp_rkey_buffer_release");
    ucp.find(api.ep_rkey_unpack, "ucp_ep_rkey_unpack");
    ucp.find(api.rkey_destroy, "ucp_rkey_destroy");
    ucp.find(api.put_nbx, "ucp_put_nbx");
    ucp.find(api.get_nbx, "ucp_get_nbx");
    ucp.find(api.atomic_op_nbx, "ucp_atomic_op_nbx");
    ucp.find(api.am_send_nbx, "ucp_am_send_nbx");
    ucp.find(api.request_free, "ucp_request_free");
    ucs.find(api.status_string, "ucs_status_string");
    return api;
}

}  // namespace

const Ucp& ucp() {
    static const Ucp kApi = load();
    return kApi;
}

}  // namespace peal::hosts
