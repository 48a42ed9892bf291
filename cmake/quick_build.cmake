# What makes a build from nothing quicker. A compiler cache makes it quicker still, and wants to see
# what is included, so there is nothing of this beside one.
option(PEAL_QUICK_BUILD "Parse common headers once, and let the compiler have more memory" ON)
if(CMAKE_CXX_COMPILER_LAUNCHER)
    set(PEAL_QUICK_BUILD OFF)
endif()

# g++ looks for garbage each time that its memory has doubled, beginning at 128 MiB. It finds little.
if(PEAL_QUICK_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(peal_options INTERFACE --param=ggc-min-heapsize=524288) # KiB
endif()

set(PEAL_COMMON_HEADERS
    <algorithm> <array> <atomic> <chrono> <cstdint> <filesystem> <functional> <map> <memory> <mutex>
    <optional> <set> <span> <string> <string_view> <unordered_map> <utility> <variant> <vector>
    <fmt/format.h> <fmt/ranges.h>)

# peal_precompile(<target> <group> [<header>...])
#
# Gives the target the common headers and these, precompiled once for all targets of a group. They
# must have the same compile options, or the compiler goes by those of the first; and what the first
# defines, all must.
function(peal_precompile target group)
    if(NOT PEAL_QUICK_BUILD)
        return()
    endif()
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "EXECUTABLE")
        target_compile_options(${target} PRIVATE -fPIC) # as the libraries have it
    endif()
    get_property(first GLOBAL PROPERTY "PEAL_PRECOMPILED_${group}")
    if(first)
        target_precompile_headers(${target} REUSE_FROM ${first})
    else()
        target_precompile_headers(${target} PRIVATE ${PEAL_COMMON_HEADERS} ${ARGN})
        set_property(GLOBAL PROPERTY "PEAL_PRECOMPILED_${group}" ${target})
    endif()
endfunction()
