# Installs Peal from BUILD_DIR under a prefix of its own, builds the consumer against it as any
# other project would, and runs it; so with a program as README.md says, and as docs/install.md says
# for pkg-config, and with a shared library. Leaves nothing behind.
set(work_dir ${BUILD_DIR}/install_test)
set(prefix ${work_dir}/prefix)
set(leftovers ${work_dir} ${BUILD_DIR}/install_manifest.txt)
set(flags "")
if(SANITIZE)
    set(flags -fsanitize=${SANITIZE})
endif()

function(step what)
    execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output ERROR_VARIABLE output
                    RESULT_VARIABLE result)
    if(NOT result EQUAL 0)
        file(REMOVE_RECURSE ${leftovers})
        message(FATAL_ERROR "${what} failed (${result}):\n${output}")
    endif()
endfunction()

set(top ${CMAKE_CURRENT_LIST_DIR}/../..)
file(REMOVE_RECURSE ${leftovers})
step("install" ${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix})
step("configure the consumer" ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B
     ${work_dir}/build -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${COMPILER} -D
     CMAKE_CXX_FLAGS=${flags} -D CMAKE_PREFIX_PATH=${prefix})
step("build the consumer" ${CMAKE_COMMAND} --build ${work_dir}/build)
step("run the consumer" ${work_dir}/build/consumer)
step("run the installed command" ${prefix}/bin/peal --help)
if(PYTHON)
    execute_process(COMMAND ${prefix}/bin/peal python-path --compat OUTPUT_VARIABLE python_path
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    step("use the installed Python package" ${CMAKE_COMMAND} -E env PYTHONPATH=${python_path}
         PEAL_PROOFS=off ${PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/use.py ${prefix})
endif()
set(has_pip 1)
if(PYTHON)
    execute_process(COMMAND ${PYTHON} -c "import pip, setuptools, wheel" RESULT_VARIABLE has_pip
                    ERROR_QUIET)
endif()
if(has_pip EQUAL 0)
    # What pip makes of the same build.
    file(COPY ${top}/setup.py ${top}/pyproject.toml ${top}/python DESTINATION ${work_dir}/source)
    step("install the Python package" ${CMAKE_COMMAND} -E env PEAL_BUILD=${BUILD_DIR} ${PYTHON} -m
         pip install --quiet --no-build-isolation --no-deps --no-index --target ${prefix}/pip
         ${work_dir}/source)
    step("use what pip installed" ${CMAKE_COMMAND} -E env
         PYTHONPATH=${prefix}/pip:${prefix}/pip/peal/compat PEAL_PROOFS=off ${PYTHON} -B
         ${CMAKE_CURRENT_LIST_DIR}/use.py ${prefix}/pip)
endif()

# The first fenced block of a document that has this tag and contains this text.
function(block_of document tag text result)
    file(READ ${document} rest)
    string(REPLACE ";" "\\;" rest "${rest}")
    string(REGEX MATCHALL "```${tag}\n[^`]*```" blocks "${rest}")
    foreach(block ${blocks})
        string(FIND "${block}" "${text}" place)
        if(NOT place EQUAL -1)
            string(REGEX REPLACE "^```${tag}\n|```$" "" block "${block}")
            set(${result} "${block}" PARENT_SCOPE)
            return()
        endif()
    endforeach()
    message(FATAL_ERROR "${document} has no block '${tag}' with '${text}'")
endfunction()

set(mine ${work_dir}/mine)
block_of(${top}/README.md cmake "find_package(peal" lists)
file(WRITE ${mine}/CMakeLists.txt "${lists}")
file(COPY_FILE ${top}/examples/communicator/hello.cpp ${mine}/main.cpp)
step("configure README's project" ${CMAKE_COMMAND} -S ${mine} -B ${mine}/build -G ${GENERATOR} -D
     CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_CXX_FLAGS=${flags} -D CMAKE_PREFIX_PATH=${prefix})
step("build README's project" ${CMAKE_COMMAND} --build ${mine}/build)
step("run README's project" ${prefix}/bin/peal launch -n 2 ${mine}/build/mine)

# The same objects as a shared library, as BUILD_SHARED_LIBS links them.
set(installed ${prefix}/${LIBDIR}/libpeal)
if(EXISTS ${installed}.a)
    execute_process(COMMAND ${CMAKE_COMMAND} -E env
                            PKG_CONFIG_PATH=${prefix}/${LIBDIR}/pkgconfig pkg-config --libs peal
                    OUTPUT_VARIABLE links OUTPUT_STRIP_TRAILING_WHITESPACE)
    string(REPLACE "-lpeal" "" links "${links}")
    separate_arguments(links UNIX_COMMAND "${links}")
    step("link a shared library" ${COMPILER} ${flags} -shared -o ${mine}/libpeal.so
         -Wl,--whole-archive ${installed}.a -Wl,--no-whole-archive ${links})
    step("link README's program with it" ${COMPILER} ${flags}
         ${mine}/build/CMakeFiles/mine.dir/main.cpp.o -o ${mine}/shared -L${mine} -lpeal -lfmt)
    step("run README's program with it" ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${mine}
         ${prefix}/bin/peal launch -n 2 ${mine}/shared)
endif()

block_of(${top}/docs/install.md sh "pkg-config" commands)
string(REPLACE "g++" "${COMPILER} ${flags}" commands "${commands}")
file(WRITE ${mine}/pkg-config.sh "set -e\n${commands}")
file(REMOVE_RECURSE ${mine}/build)
step("build and run with pkg-config" ${CMAKE_COMMAND} -E chdir ${mine} ${CMAKE_COMMAND} -E env
     PATH=${prefix}/bin:$ENV{PATH} PKG_CONFIG_PATH=${prefix}/${LIBDIR}/pkgconfig
     LD_LIBRARY_PATH=${prefix}/${LIBDIR} sh pkg-config.sh)
file(REMOVE_RECURSE ${leftovers})
