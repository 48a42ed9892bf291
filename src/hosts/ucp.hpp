// SPDX-License-Identifier: Apache-2.0
// The functions of UCX that Peal uses. The library is loaded when the first net is opened, and not
// with every program: it takes milliseconds, threads and signal handlers.
#pragma once

#include <ucp/api/ucp.h>

namespace peal::hosts {

struct Ucp {
    decltype(&ucp_config_read) config_read;
    decltype(&ucp_config_modify) config_modify;
    decltype(&ucp_config_release) config_release;
    decltype(&ucp_init_version) init_version;
    decltype(&ucp_cleanup) cleanup;
    decltype(&ucp_worker_create) worker_create;
    decltype(&ucp_worker_destroy) worker_destroy;
    decltype(&ucp_worker_get_address) worker_get_address;
    decltype(&ucp_worker_release_address) worker_release_address;
    decltype(&ucp_worker_progress) worker_progress;
    decltype(&ucp_worker_get_efd) worker_get_efd;
    decltype(&ucp_worker_arm) worker_arm;
    decltype(&ucp_worker_fence) worker_fence;
    decltype(&ucp_worker_set_am_recv_handler) worker_set_am_recv_handler;
    decltype(&ucp_ep_create) ep_create;
    decltype(&ucp_ep_close_nbx) ep_close_nbx;
    decltype(&ucp_ep_flush_nbx) ep_flush_nbx;
    decltype(&ucp_ep_print_info) ep_print_info;
    decltype(&ucp_mem_map) mem_map;
    decltype(&ucp_mem_unmap) mem_unmap;
    decltype(&ucp_rkey_pack) rkey_pack;
    decltype(&ucp_rkey_buffer_release) rkey_buffer_release;
    decltype(&ucp_ep_rkey_unpack) ep_rkey_unpack;
    decltype(&ucp_rkey_destroy) rkey_destroy;
    decltype(&ucp_put_nbx) put_nbx;
    decltype(&ucp_get_nbx) get_nbx;
    decltype(&ucp_atomic_op_nbx) atomic_op_nbx;
    decltype(&ucp_am_send_nbx) am_send_nbx;
    decltype(&ucp_request_free) request_free;
    decltype(&ucs_status_string) status_string;
};

// Throws Error(resource) if it is not installed.
const Ucp& ucp();

}  // namespace peal::hosts
