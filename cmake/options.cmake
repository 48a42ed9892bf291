# Language level and warnings, for every target of ours.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
endif()

add_library(peal_options INTERFACE)
target_compile_options(peal_options INTERFACE -Wall -Wextra -Wpedantic)
# g++ 12 sees overlap in std::string operations where there is none (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(peal_options INTERFACE -Wno-restrict)
endif()
if(PEAL_WERROR)
    target_compile_options(peal_options INTERFACE -Werror)
endif()

# PEAL_SANITIZE is a comma-separated list for -fsanitize=, set by the asan and tsan presets.
set(PEAL_SANITIZE "" CACHE STRING "Sanitizers to build with")
if(PEAL_SANITIZE)
    add_compile_options(-fsanitize=${PEAL_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    add_link_options(-fsanitize=${PEAL_SANITIZE})
endif()
