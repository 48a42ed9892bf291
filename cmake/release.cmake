# Which Peal this is: its release, and a digest of the sources that decide what a rank runs, so that ranks of one job
# that were built from others are refused (docs/hosts.md). One small file of peal_hosts says so; what is edited in these
# sources is compiled again, and that file.
#
# cmake -D SOURCE=<this repository> -D RELEASE=<version> -D OUTPUT=<file.cpp> -P release.cmake
#
# writes it. A communicator knows nothing of the rooms that are left out.
set(left_out check cli draw driver emit foreign golden pto python worker)
if(CMAKE_SCRIPT_MODE_FILE)
    set(look_again)
else()
    set(SOURCE ${PROJECT_SOURCE_DIR})
    set(look_again CONFIGURE_DEPENDS)
endif()
file(GLOB_RECURSE deciding RELATIVE ${SOURCE} ${look_again} ${SOURCE}/src/*.cpp ${SOURCE}/src/*.hpp
     ${SOURCE}/include/peal/*.hpp)
list(JOIN left_out "|" left_out)
list(FILTER deciding EXCLUDE REGEX "^src/(${left_out})/")
list(SORT deciding)

if(CMAKE_SCRIPT_MODE_FILE)
    set(digests "")
    foreach(file IN LISTS deciding)
        file(SHA256 ${SOURCE}/${file} digest)
        string(APPEND digests "${file} ${digest}\n")
    endforeach()
    string(SHA256 digest "${digests}")
    string(SUBSTRING ${digest} 0 12 digest)
    file(WRITE ${OUTPUT} "#include \"hosts/messages.hpp\"\n\n"
                         "std::string_view peal::hosts::release() { return \"${RELEASE} of sources ${digest}\"; }\n")
else()
    set(release_file ${PROJECT_BINARY_DIR}/release.cpp)
    list(TRANSFORM deciding PREPEND ${SOURCE}/)
    add_custom_command(OUTPUT ${release_file}
                       COMMAND ${CMAKE_COMMAND} -D SOURCE=${SOURCE} -D RELEASE=${PROJECT_VERSION} -D OUTPUT=${release_file}
                               -P ${CMAKE_CURRENT_LIST_FILE}
                       DEPENDS ${deciding} ${CMAKE_CURRENT_LIST_FILE} VERBATIM)
    target_sources(peal_hosts PRIVATE ${release_file})
    set_source_files_properties(${release_file} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endif()
