# Calls that must not compile, each with its one error, and those beside them that must.
if(PEAL_TESTS)
    file(GLOB misuses CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/comm/misuse/*.cpp)
    foreach(file ${misuses})
        get_filename_component(name ${file} NAME_WE)
        add_test(NAME misuse.${name}
                 COMMAND ${CMAKE_COMMAND} -D COMPILER=${CMAKE_CXX_COMPILER} -D FILE=${file}
                         -D INCLUDE=${PROJECT_SOURCE_DIR}/include
                         -P ${PROJECT_SOURCE_DIR}/tests/comm/misuse/run.cmake)
    endforeach()
endif()
