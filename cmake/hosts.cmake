# What only jobs on several hosts need. Without it Peal builds as ever and says in one line what is missing.
#
# peal_for_hosts(<what> PACKAGE <package> HEADER <file> LIBRARIES <library>... WITH <files>... WITHOUT <file>
#                [HINTS <directories>...])
#
# <package> is the Debian package that brings it. Files of src/hosts, without .cpp: those that use it, and the one
# that says so in their place.
set(PEAL_HOSTS_LIBRARIES)
set(PEAL_HOSTS_EXCLUDED)
set(PEAL_HOSTS_MISSING) # packages
function(peal_for_hosts what)
    cmake_parse_arguments(ARG "" "PACKAGE;HEADER;WITHOUT" "LIBRARIES;WITH;HINTS" ${ARGN})
    find_path(PEAL_${what}_INCLUDE ${ARG_HEADER} HINTS ${ARG_HINTS})
    mark_as_advanced(PEAL_${what}_INCLUDE)
    set(is_there ${PEAL_${what}_INCLUDE})
    foreach(library IN LISTS ARG_LIBRARIES)
        find_library(PEAL_${what}_${library} ${library})
        mark_as_advanced(PEAL_${what}_${library})
        if(NOT PEAL_${what}_${library})
            set(is_there FALSE)
        endif()
    endforeach()
    if(is_there)
        set(excluded ${ARG_WITHOUT})
        add_library(peal_${what} INTERFACE)
        target_include_directories(peal_${what} SYSTEM INTERFACE ${PEAL_${what}_INCLUDE})
        set(PEAL_HOSTS_TARGETS ${PEAL_HOSTS_TARGETS} peal_${what} PARENT_SCOPE)
        set(PEAL_HOSTS_LIBRARIES ${PEAL_HOSTS_LIBRARIES} ${ARG_LIBRARIES} PARENT_SCOPE)
    else()
        set(excluded ${ARG_WITH})
        set(PEAL_HOSTS_MISSING ${PEAL_HOSTS_MISSING} ${ARG_PACKAGE} PARENT_SCOPE)
        message(STATUS "Jobs on several hosts: no ${what}; the Debian package ${ARG_PACKAGE} brings it")
    endif()
    set(PEAL_HOSTS_EXCLUDED ${PEAL_HOSTS_EXCLUDED} ${excluded} PARENT_SCOPE)
endfunction()

peal_for_hosts(libsodium PACKAGE libsodium-dev HEADER sodium.h LIBRARIES sodium WITH secret WITHOUT no_secret)
peal_for_hosts(PMIx PACKAGE libpmix-dev HEADER pmix.h LIBRARIES pmix WITH pmix WITHOUT no_pmix
               HINTS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/pmix2/include)
# Its library is loaded when a job first needs it.
peal_for_hosts(UCX PACKAGE libucx-dev HEADER ucp/api/ucp.h LIBRARIES WITH ucp ucx_mail ucx_net WITHOUT no_net)
