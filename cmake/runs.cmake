# What is proved is what runs: each plan that an engine carries out in a test is proved, after all
# tests that are run.
if(PEAL_TESTS AND PEAL_RECORD_RUNS)
    add_executable(runs_proved ${PROJECT_SOURCE_DIR}/tests/runs/runs.cpp
                               ${PROJECT_SOURCE_DIR}/tests/runs/runs_proved.cpp)
    target_include_directories(runs_proved PRIVATE ${PROJECT_SOURCE_DIR}/tests)
    target_link_libraries(runs_proved PRIVATE peal_check peal_options)
    peal_speed(runs_proved)
    set(runs ${PROJECT_BINARY_DIR}/runs)
    add_test(NAME runs.begin COMMAND runs_proved ${runs})
    add_test(NAME runs.proved COMMAND runs_proved ${runs} ${PROJECT_SOURCE_DIR}/tests/runs/not_proved.txt)
    set_tests_properties(runs.begin PROPERTIES FIXTURES_SETUP runs)
    set_tests_properties(runs.proved PROPERTIES FIXTURES_CLEANUP runs RUN_SERIAL ON)
endif()
