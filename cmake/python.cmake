# The Python package `peal`: the module _peal (src/python/) beside the files of python/, together in
# build/python, which is what PYTHONPATH names. It is for the system's Python, whatever comes first
# on PATH. Without what it is built with, there is none.
option(PEAL_PYTHON "Build the Python package, if what it needs is there" ${PROJECT_IS_TOP_LEVEL})
set(PEAL_PYTHON_EXECUTABLE /usr/bin/python3 CACHE FILEPATH "The Python that the package is for")
if(NOT PEAL_PYTHON OR PEAL_FUZZ)
    return()
endif()
if(PEAL_SANITIZE) # an interpreter without them cannot load it
    message(STATUS "Python: the package is not built with sanitizers")
    return()
endif()

set(Python3_EXECUTABLE ${PEAL_PYTHON_EXECUTABLE})
find_package(Python3 COMPONENTS Interpreter Development.Module QUIET)
find_path(PEAL_PYBIND11 pybind11/pybind11.h)
if(NOT Python3_FOUND OR NOT PEAL_PYBIND11)
    message(NOTICE "Python: the package peal is not built; `tools/install-packages python` installs what it needs")
    return()
endif()

file(GLOB python_sources CONFIGURE_DEPENDS src/python/*.cpp)
Python3_add_library(peal_python MODULE WITH_SOABI ${python_sources})
target_include_directories(peal_python PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_include_directories(peal_python SYSTEM PRIVATE ${PEAL_PYBIND11})
target_link_libraries(peal_python PRIVATE peal_commands peal_driver peal_options)
target_link_options(peal_python PRIVATE -Wl,--exclude-libs,ALL) # nothing of it is anybody else's
target_compile_options(peal_python PRIVATE $<$<CONFIG:Release>:-O1>)
set_target_properties(peal_python PROPERTIES OUTPUT_NAME _peal CXX_VISIBILITY_PRESET hidden
                                             LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/python/peal)
peal_unity(peal_python 8)

# What is written in Python is linked to, so that a change needs no build.
file(GLOB_RECURSE python_files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/python
     python/*.py python/*.pyi python/*/py.typed)
foreach(file ${python_files})
    get_filename_component(directory ${PROJECT_BINARY_DIR}/python/${file} DIRECTORY)
    file(MAKE_DIRECTORY ${directory})
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/python/${file} ${PROJECT_BINARY_DIR}/python/${file} SYMBOLIC)
endforeach()

# tests/python/test_<name>.py is the test python.<name>; in tests/python/compat/, with the names of
# other projects switched on.
if(PEAL_TESTS)
    file(GLOB_RECURSE python_tests CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/tests/python
         tests/python/test_*.py)
    foreach(file ${python_tests})
        string(REGEX REPLACE "test_([^/]*)\\.py$" "\\1" test python.${file})
        set(path ${PROJECT_BINARY_DIR}/python)
        if(file MATCHES "^compat/")
            string(APPEND path ":${PROJECT_BINARY_DIR}/python/compat")
        endif()
        add_test(NAME ${test}
                 COMMAND ${PEAL_PYTHON_EXECUTABLE} -B -m pytest -q -p no:cacheprovider ${file}
                 WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/tests/python)
        set(environment "PYTHONPATH=${path};PEAL_COMMAND=$<TARGET_FILE:peal_cli>"
                        "PEAL_CACHE=${PROJECT_BINARY_DIR}/kernels;PEAL_PROOFS=off")
        if(PEAL_RECORD_RUNS) # see cmake/runs.cmake
            list(APPEND environment "PEAL_RECORD_RUNS=${PROJECT_BINARY_DIR}/runs")
            set_tests_properties(${test} PROPERTIES FIXTURES_REQUIRED runs)
        endif()
        set_tests_properties(${test} PROPERTIES ENVIRONMENT "${environment}" LABELS concurrent)
    endforeach()
    add_dependencies(concurrent_tests peal_python)
endif()
