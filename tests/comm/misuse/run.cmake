# cmake -D COMPILE=<command> -D FILE=<file.cpp> -P run.cmake
#
# Compiles a program that says in its second line what is to come of it: `compiles`, or the one
# error that it must get. What surrounds that error must be short.
set(most_lines 20)
file(STRINGS ${FILE} head LIMIT_COUNT 2)
list(GET head 1 wanted)
execute_process(COMMAND ${COMPILE} ${FILE}
                OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
if(wanted MATCHES "^// compiles")
    if(NOT result EQUAL 0 OR output)
        message(FATAL_ERROR "does not compile without a word:\n${output}")
    endif()
    return()
endif()
string(REPLACE "// error: " "" wanted "${wanted}")
string(REGEX MATCHALL " error: " errors "${output}")
string(REGEX MATCHALL "\n" lines "${output}")
list(LENGTH errors error_count)
list(LENGTH lines line_count)
string(FIND "${output}" "${wanted}" place)
if(place EQUAL -1 OR NOT error_count EQUAL 1 OR line_count GREATER most_lines)
    message(FATAL_ERROR "expected one error in ${most_lines} lines at most, \"${wanted}\"; found "
                        "${error_count} in ${line_count}:\n${output}")
endif()
