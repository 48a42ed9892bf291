# cmake -D PROGRAM=<test program> -D OUTPUT=<file> -D EACH=<bool> -D PROPERTIES=<text> -P discover_tests.cmake
#
# Writes for CTest the tests of the GoogleTest program test_<room>: each of them, or <room>.<suite> for each
# of its suites, which is one process. Large suites begin first. What is in PROPERTIES is said of all.
execute_process(COMMAND ${PROGRAM} --gtest_list_tests OUTPUT_VARIABLE listed COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "#[^\n]*" "" listed "${listed}") # values of parameters
string(REGEX MATCHALL "[^\n]+" lines "${listed}")
get_filename_component(room ${PROGRAM} NAME)
string(REGEX REPLACE "^test_" "" room ${room})
set(text "")
set(skips "")
if(EACH) # a suite of which one test is skipped has others
    set(skips " SKIP_REGULAR_EXPRESSION [=[\\[  SKIPPED \\]]=]")
endif()
function(add name filter cost)
    if(name MATCHES "OnHosts|HostsDocument") # many ranks, which take what cores there are: one at a time, from the start
        string(APPEND PROPERTIES " RESOURCE_LOCK hosts")
        set(cost 1000)
    endif()
    string(APPEND text "add_test([=[${name}]=] [=[${PROGRAM}]=] [=[--gtest_filter=${filter}]=])\n"
                       "set_tests_properties([=[${name}]=] PROPERTIES COST ${cost} ${PROPERTIES}${skips})\n")
    set(text "${text}" PARENT_SCOPE)
endfunction()
set(suite "")
foreach(line IN LISTS lines ITEMS "end.")
    string(STRIP "${line}" name)
    if(line MATCHES "^  ")
        math(EXPR count "${count} + 1")
        if(EACH)
            add("${suite}${name}" "${suite}${name}" 0)
        endif()
    elseif(name MATCHES "\\.$") # and not what main() says first
        if(suite AND NOT EACH)
            string(REGEX REPLACE "\\.$" "" title "${room}.${suite}")
            add("${title}" "${suite}*" ${count})
        endif()
        set(suite "${name}")
        set(count 0)
    endif()
endforeach()
file(WRITE ${OUTPUT} "${text}")
