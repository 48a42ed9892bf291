# Tests that run the built command.
if(PEAL_TESTS)
    add_executable(met_rank tests/hosts/met_rank.cpp)
    target_link_libraries(met_rank PRIVATE peal_hosts peal_options)
    add_executable(calling_rank tests/hosts/calling_rank.cpp)
    target_link_libraries(calling_rank PRIVATE peal_comm peal_options)
    foreach(program met_rank calling_rank)
        target_include_directories(${program} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
        peal_speed(${program})
    endforeach()
    file(GLOB cli_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/cli/*.cpp)
    peal_test(test_cli SOURCES ${cli_tests} src/cli/cross_over.cpp LINKS peal_golden peal_comm)
    target_compile_definitions(test_cli PRIVATE PEAL_BINARY="$<TARGET_FILE:peal_cli>"
                                                PEAL_HOSTS_MISSING="$<JOIN:${PEAL_HOSTS_MISSING}, >"
                                                PEAL_MET_RANK="$<TARGET_FILE:met_rank>"
                                                PEAL_CALLING_RANK="$<TARGET_FILE:calling_rank>"
                                                PEAL_EXAMPLES="$<TARGET_FILE_DIR:example_hello>"
                                                PEAL_WORKER_EXAMPLES="$<TARGET_FILE_DIR:example_worker_tour>")
    add_dependencies(test_cli peal_cli met_rank calling_rank example_hello example_mean example_training_step example_tour
                     example_faults worker_examples)
endif()
