# Calls that must not compile, each with its one error, and those beside them that must. What they include
# is compiled once; g++ takes it instead of the header, others go on to the header.
if(PEAL_TESTS)
    file(GLOB misuses CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/comm/misuse/*.cpp)
    set(compiled ${PROJECT_BINARY_DIR}/misuse)
    file(MAKE_DIRECTORY ${compiled}/peal)
    set(compile ${CMAKE_CXX_COMPILER} -std=c++20 -Wall -Wextra)
    add_test(NAME misuse.header
             COMMAND ${compile} -w -I ${PROJECT_SOURCE_DIR}/include -x c++-header
                     ${PROJECT_SOURCE_DIR}/include/peal/communicator.hpp -o ${compiled}/peal/communicator.hpp.gch)
    set_tests_properties(misuse.header PROPERTIES FIXTURES_SETUP misuse)
    set(compile ${compile} -fsyntax-only -I ${compiled} -I ${PROJECT_SOURCE_DIR}/include)
    foreach(file ${misuses})
        get_filename_component(name ${file} NAME_WE)
        add_test(NAME misuse.${name}
                 COMMAND ${CMAKE_COMMAND} -D "COMPILE=${compile}" -D FILE=${file}
                         -P ${PROJECT_SOURCE_DIR}/tests/comm/misuse/run.cmake)
        set_tests_properties(misuse.${name} PROPERTIES FIXTURES_REQUIRED misuse)
    endforeach()
endif()
