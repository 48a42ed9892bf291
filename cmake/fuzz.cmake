# Fuzz targets. PEAL_FUZZ (the fuzz preset: clang) makes them with libFuzzer; otherwise they have a
# driver of our own, and the ordinary suite runs each of them for a second or two.
option(PEAL_FUZZ "Build the fuzz targets with libFuzzer" OFF)
if(PEAL_FUZZ)
    add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# peal_fuzz(<target> RUNS <count> LINKS <targets>... SEEDS <directories>...)
function(peal_fuzz target)
    cmake_parse_arguments(ARG "" "RUNS" "LINKS;SEEDS" ${ARGN})
    set(directory ${PROJECT_SOURCE_DIR}/tests/fuzz)
    add_executable(fuzz_${target} EXCLUDE_FROM_ALL ${directory}/${target}.cpp)
    target_include_directories(fuzz_${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests
                                                      ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(fuzz_${target} PRIVATE ${ARG_LINKS} peal_options)
    peal_speed(fuzz_${target})
    if(PEAL_FUZZ)
        target_link_options(fuzz_${target} PRIVATE -fsanitize=fuzzer)
        return()
    endif()
    target_link_libraries(fuzz_${target} PRIVATE fuzz_driver)
    set_target_properties(fuzz_${target} PROPERTIES EXCLUDE_FROM_ALL OFF)
    add_test(NAME fuzz.${target}
             COMMAND fuzz_${target} 1 ${ARG_RUNS} ${directory}/corpus/${target} ${ARG_SEEDS})
endfunction()

function(peal_fuzz_targets)
    if(NOT PEAL_FUZZ)
        add_library(fuzz_driver STATIC tests/fuzz/driver.cpp)
        target_include_directories(fuzz_driver PRIVATE ${PROJECT_SOURCE_DIR}/tests)
        target_link_libraries(fuzz_driver PRIVATE peal_base peal_options)
        peal_speed(fuzz_driver)
    endif()
    peal_fuzz(language RUNS 3000 LINKS peal_plan SEEDS ${PROJECT_SOURCE_DIR}/examples/mesh_allreduce.peal
                                                        ${PROJECT_SOURCE_DIR}/examples/ring_allreduce.peal
                                                        ${PROJECT_SOURCE_DIR}/examples/composite.peal
                                                        ${PROJECT_SOURCE_DIR}/tests/must_fail)
    peal_fuzz(plans RUNS 3000 LINKS peal_check)
    peal_fuzz(foreign RUNS 5000 LINKS peal_foreign)
    peal_fuzz(profile RUNS 5000 LINKS peal_comm)
endfunction()
