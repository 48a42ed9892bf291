# Tests that run the built command.
if(PEAL_TESTS)
    file(GLOB cli_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/cli/*.cpp)
    peal_test(test_cli SOURCES ${cli_tests} LINKS peal_golden)
    target_compile_definitions(test_cli PRIVATE PEAL_BINARY="$<TARGET_FILE:peal_cli>")
    add_dependencies(test_cli peal_cli)
endif()
