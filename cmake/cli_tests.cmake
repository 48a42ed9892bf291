# Tests that run the built command.
if(PEAL_TESTS)
    file(GLOB cli_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/cli/*.cpp)
    peal_test(test_cli SOURCES ${cli_tests} src/cli/cross_over.cpp LINKS peal_golden peal_comm)
    target_compile_definitions(test_cli PRIVATE PEAL_BINARY="$<TARGET_FILE:peal_cli>"
                                                PEAL_EXAMPLES="$<TARGET_FILE_DIR:example_hello>"
                                                PEAL_WORKER_EXAMPLES="$<TARGET_FILE_DIR:example_worker_tour>")
    add_dependencies(test_cli peal_cli example_hello example_mean example_training_step example_tour
                     example_faults worker_examples)
endif()
