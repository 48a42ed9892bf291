# The museum: historical bugs that the checker must find, and their fixes that it must prove.
if(PEAL_TESTS)
    peal_test(test_museum SOURCES tests/museum/exhibit.cpp tests/museum/plan_exhibits.cpp
                                  tests/museum/museum_test.cpp LINKS peal_draw)
endif()
