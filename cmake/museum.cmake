# The museum: historical bugs that the checker must find, and their fixes that it must prove.
if(PEAL_TESTS)
    peal_test(test_museum SOURCES tests/museum/catalogue_test.cpp
                                  tests/museum/exhibit.cpp
                                  tests/museum/museum_test.cpp
                                  tests/museum/plan_exhibits.cpp
                                  tests/museum/plan_museum_test.cpp
                          LINKS peal_draw)
    peal_test(test_museum_pto SOURCES tests/museum/pto/pto_exhibit.cpp
                                      tests/museum/pto/pto_museum_test.cpp
                              LINKS peal_pto peal_check)
endif()
