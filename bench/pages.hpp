// SPDX-License-Identifier: Apache-2.0
// Private memory for the buffers of a measurement.
#pragma once

#include <cstddef>
#include <memory>

namespace peal::bench {

// Zeroed, aligned to a page, in huge pages where the system gives them, every page touched.
std::shared_ptr<float[]> pages(std::size_t count);

}  // namespace peal::bench
