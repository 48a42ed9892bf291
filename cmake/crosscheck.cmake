# The cross-check of the checker: an interpreter that goes through every interleaving, and writers
# of random programs. They are what most of its time goes to, so they are optimised.
file(GLOB crosscheck_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/check/crosscheck/*.cpp)
list(FILTER crosscheck_sources EXCLUDE REGEX "/soundness\\.cpp$")
add_library(crosscheck STATIC EXCLUDE_FROM_ALL ${crosscheck_sources})
target_include_directories(crosscheck PUBLIC ${PROJECT_SOURCE_DIR}/tests)
target_link_libraries(crosscheck PUBLIC peal_check PRIVATE peal_options)
peal_unity(crosscheck 8)
peal_speed(crosscheck -O2)
target_link_libraries(test_check PRIVATE crosscheck)

add_executable(soundness EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/check/crosscheck/soundness.cpp)
target_link_libraries(soundness PRIVATE crosscheck peal_options)
