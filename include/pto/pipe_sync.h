// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "intrinsic.h"

// The scalar unit waits for the stores that were issued before.
inline void pipe_sync(const pto::trace::Where& where = pto::trace::Where::current()) {
    set_flag(PIPE_MTE3, PIPE_S, EVENT_ID7, where);
    wait_flag(PIPE_MTE3, PIPE_S, EVENT_ID7, where);
}
