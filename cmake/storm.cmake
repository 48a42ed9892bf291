# The storm: ranks that call while something goes wrong. The tests run some trials of it, `make
# test-storm` many.
file(GLOB storm_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/comm/storm/*.cpp)
list(FILTER storm_sources EXCLUDE REGEX "/main\\.cpp$")
add_library(storm_trials STATIC EXCLUDE_FROM_ALL ${storm_sources})
target_include_directories(storm_trials PUBLIC ${PROJECT_SOURCE_DIR}/tests)
target_link_libraries(storm_trials PUBLIC peal_comm PRIVATE peal_options)
peal_speed(storm_trials)
target_link_libraries(test_comm PRIVATE storm_trials)

add_executable(storm EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/comm/storm/main.cpp)
target_link_libraries(storm PRIVATE storm_trials peal_options)
