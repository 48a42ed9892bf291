// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <new>

namespace peal::shm::test {

// In memory that a test shares with the processes that it forks. T is trivial to destroy.
template <class T>
class Shared {
public:
    Shared()
        : value_(new (mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                           -1, 0)) T{}) {}
    ~Shared() { munmap(value_, sizeof(T)); }
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;

    T& operator*() const { return *value_; }
    T* operator->() const { return value_; }

private:
    T* value_;
};

}  // namespace peal::shm::test
