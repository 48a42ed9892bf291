# peal_room(<room> [COMMAND_ONLY] [SPEED <options>...] [COLD <files>...] [WITHOUT <files>...] [LINKS <targets>...] [PRIVATE_LINKS <targets>...])
#
# src/<room>/ becomes the library peal_<room>, and tests/<room>/*_test.cpp its test program
# test_<room>. LINKS names the rooms below it: dependencies point one way. All rooms together make
# the one library that is installed, but for those that only the command needs. SPEED is for rooms that are waited for: what most of them do is
# over before anybody notices, and -Og compiles in half the time. COLD names files of such a room, without .cpp, that
# nobody waits for: what they write or read is text. WITHOUT names files that this build does without.
set(PEAL_ROOMS "" CACHE INTERNAL "")

# Compiles the files of a target a few at a time, so that what they include is parsed once. The
# clang preset does without: every file includes what it uses.
option(PEAL_UNITY "Compile several files at once" ON)
function(peal_unity target batch)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ${PEAL_UNITY} UNITY_BUILD_BATCH_SIZE ${batch})
endfunction()

# peal_speed(<target> [<option>...]): how it is optimised, quick to compile if nothing is said, with the
# precompiled headers that go with it.
function(peal_speed target)
    if(NOT ARGN)
        set(ARGN -Og)
    endif()
    target_compile_options(${target} PRIVATE "$<$<CONFIG:Release>:${ARGN}>")
    peal_precompile(${target} "${ARGN}")
endfunction()

function(peal_room room)
    cmake_parse_arguments(ARG "COMMAND_ONLY" "" "SPEED;COLD;WITHOUT;LINKS;PRIVATE_LINKS" ${ARGN})
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${room}/*.cpp)
    foreach(file IN LISTS ARG_WITHOUT)
        list(REMOVE_ITEM sources ${PROJECT_SOURCE_DIR}/src/${room}/${file}.cpp)
    endforeach()
    list(TRANSFORM ARG_COLD REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/src/${room}/\\1.cpp")
    if(ARG_COLD)
        list(REMOVE_ITEM sources ${ARG_COLD})
        add_library(peal_${room}_cold OBJECT ${ARG_COLD})
        list(APPEND sources $<TARGET_OBJECTS:peal_${room}_cold>)
    endif()
    add_library(peal_${room} STATIC ${sources})
    foreach(target peal_${room} peal_${room}_cold)
        if(NOT TARGET ${target})
            continue()
        endif()
        target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/include
                                                    ${PROJECT_SOURCE_DIR}/src)
        target_link_libraries(${target} PUBLIC ${ARG_LINKS} PRIVATE peal_options ${ARG_PRIVATE_LINKS})
        peal_unity(${target} 12)
    endforeach()
    peal_speed(peal_${room} ${ARG_SPEED})
    if(ARG_COLD)
        peal_speed(peal_${room}_cold)
    endif()
    if(NOT ARG_COMMAND_ONLY)
        list(APPEND PEAL_ROOMS peal_${room})
        if(ARG_COLD)
            list(APPEND PEAL_ROOMS peal_${room}_cold)
        endif()
        set(PEAL_ROOMS ${PEAL_ROOMS} CACHE INTERNAL "")
    endif()

    file(GLOB tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${room}/*_test.cpp)
    if(PEAL_TESTS AND tests)
        peal_test(test_${room} SOURCES ${tests} LINKS peal_${room})
    endif()
endfunction()

# Test programs that start processes or threads, so that each of their tests is a process of its own; `make test-stress`
# builds and runs them, and what is in Python, on busy cores.
set(PEAL_CONCURRENT_TESTS test_base test_shm test_engine test_hosts test_comm test_worker test_cli test_pto test_emit
                          test_driver test_museum_pto)
add_custom_target(concurrent_tests)

# What tests share and is compiled once.
if(PEAL_TESTS)
    add_library(test_support STATIC EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/support/patterns.cpp)
    target_include_directories(test_support PRIVATE ${PROJECT_SOURCE_DIR}/tests)
    target_link_libraries(test_support PRIVATE peal_options)
    target_compile_options(test_support PRIVATE $<$<CONFIG:Release>:-Og>)
    if(PEAL_SANITIZE) # g++ 12 sees uninitialised values in std::regex under the sanitizers
        target_compile_options(test_support PRIVATE -Wno-maybe-uninitialized)
    endif()
endif()

# A GoogleTest program, whose tests or suites CTest knows.
function(peal_test target)
    cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
    add_executable(${target} ${ARG_SOURCES})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
    target_compile_definitions(${target} PRIVATE PEAL_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    target_link_libraries(${target} PRIVATE ${ARG_LINKS} peal_options test_support GTest::gtest_main GTest::gmock)
    peal_unity(${target} 16)
    # What is tested has its -O3. -O0 is no quicker to build, since it writes out what is never called; and
    # of the copies of an inline function a program has the first, which is that of the test.
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Og>)
    peal_precompile(${target} tests <gtest/gtest.h> <gmock/gmock.h>)
    if(PEAL_SANITIZE) # g++ 12 sees uninitialised values where there are none
        target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized)
    endif()
    # What an earlier build has proved is no proof of this one: tests that want a store bring it.
    set(environment "PEAL_CACHE=${PROJECT_BINARY_DIR}/kernels;PEAL_PROOFS=off")
    if(PEAL_SANITIZE STREQUAL thread) # UCX looks at madvise(), also that of a thread which has ended for the sanitizer
        string(APPEND environment ";UCX_MEM_EVENTS=no")
    endif()
    if(PEAL_SANITIZE MATCHES address) # libpmix keeps some bytes for good
        string(APPEND environment ";LSAN_OPTIONS=print_suppressions=0:suppressions=${PROJECT_SOURCE_DIR}/tests/support/leaks.txt")
    endif()
    set(properties)
    if(PEAL_RECORD_RUNS) # see cmake/runs.cmake
        string(APPEND environment ";PEAL_RECORD_RUNS=${PROJECT_BINARY_DIR}/runs")
        string(APPEND properties " FIXTURES_REQUIRED runs")
    endif()
    set(is_separate OFF)
    if(target IN_LIST PEAL_CONCURRENT_TESTS)
        set(is_separate ON)
        string(APPEND properties " LABELS concurrent")
        add_dependencies(concurrent_tests ${target})
    endif()
    set(tests ${PROJECT_BINARY_DIR}/${target}_tests.cmake)
    add_custom_command(TARGET ${target} POST_BUILD BYPRODUCTS ${tests}
                       COMMAND ${CMAKE_COMMAND} -D PROGRAM=$<TARGET_FILE:${target}> -D OUTPUT=${tests} -D EACH=${is_separate}
                               -D "PROPERTIES=ENVIRONMENT [=[${environment}]=]${properties}"
                               -P ${PROJECT_SOURCE_DIR}/cmake/discover_tests.cmake VERBATIM)
    set(included ${PROJECT_BINARY_DIR}/${target}_include.cmake)
    file(WRITE ${included} "if(EXISTS \"${tests}\")\n    include(\"${tests}\")\nelse()\n"
                           "    add_test(${target}_is_not_built ${target}_is_not_built)\nendif()\n")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${included})
endfunction()
