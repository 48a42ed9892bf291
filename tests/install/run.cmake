# Installs Peal from BUILD_DIR under a prefix of its own, builds the consumer against it as any
# other project would, and runs it. Leaves nothing behind.
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

file(REMOVE_RECURSE ${leftovers})
step("install" ${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix})
step("configure the consumer" ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B
     ${work_dir}/build -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${COMPILER} -D
     CMAKE_CXX_FLAGS=${flags} -D CMAKE_PREFIX_PATH=${prefix})
step("build the consumer" ${CMAKE_COMMAND} --build ${work_dir}/build)
step("run the consumer" ${work_dir}/build/consumer)
step("run the installed command" ${prefix}/bin/peal --help)
file(REMOVE_RECURSE ${leftovers})
