# The installed package: all rooms in one library, its headers, and the peal command. docs/install.md
# says how it is used.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# Linked from the rooms' objects, so that no room is exported; without the record of runs, whether
# there are tests or not.
list(TRANSFORM PEAL_ROOMS REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
# Static, unless BUILD_SHARED_LIBS.
add_library(peal "$<FILTER:${objects},EXCLUDE,/run_record\\.cpp>" src/engine/run_record.cpp)
target_include_directories(peal PRIVATE ${PROJECT_SOURCE_DIR}/src)
set_target_properties(peal PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION}
                                      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
add_library(peal::peal ALIAS peal)
target_compile_features(peal PUBLIC cxx_std_20)
target_include_directories(peal PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                       $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(peal PUBLIC fmt::fmt Threads::Threads PRIVATE hwy::hwy ${PEAL_HOSTS_LIBRARIES} ${CMAKE_DL_LIBS})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/peal)
configure_package_config_file(cmake/pealConfig.cmake.in ${PROJECT_BINARY_DIR}/pealConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/pealConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)

# For pkg-config. It finds the rest from where it lies, so that the prefix may be chosen, and moved,
# after the build. What a static library needs, its users link.
set(peal_pc_libdir ${CMAKE_INSTALL_FULL_LIBDIR})
set(peal_pc_includedir ${CMAKE_INSTALL_FULL_INCLUDEDIR})
set(peal_pc_prefix ${CMAKE_INSTALL_PREFIX})
if(NOT IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
    file(RELATIVE_PATH up /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
    string(REGEX REPLACE "/$" "" up "${up}")
    set(peal_pc_prefix "\${pcfiledir}/${up}")
    set(peal_pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
    if(NOT IS_ABSOLUTE ${CMAKE_INSTALL_INCLUDEDIR})
        set(peal_pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
    endif()
endif()
set(peal_pc_requires fmt)
set(peal_pc_requires_private libhwy)
set(peal_pc_libs -pthread)
if(NOT BUILD_SHARED_LIBS)
    set(peal_pc_requires "fmt libhwy")
    set(peal_pc_requires_private "")
    foreach(library IN LISTS PEAL_HOSTS_LIBRARIES CMAKE_DL_LIBS)
        string(APPEND peal_pc_libs " -l${library}")
    endforeach()
endif()
configure_file(cmake/peal.pc.in ${PROJECT_BINARY_DIR}/peal.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/peal.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# What the command carries out is not in the library.
install(DIRECTORY include/peal include/pto DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        PATTERN targets.hpp EXCLUDE)
install(TARGETS peal EXPORT pealTargets)
if(TARGET peal_cli)
    install(TARGETS peal_cli)
endif()
if(TARGET peal_python)
    install(TARGETS peal_python LIBRARY DESTINATION ${PEAL_PYTHON_PLACE}/peal OPTIONAL)
    install(DIRECTORY python/ DESTINATION ${PEAL_PYTHON_PLACE} PATTERN __pycache__ EXCLUDE)
endif()
install(EXPORT pealTargets NAMESPACE peal:: DESTINATION ${package_dir})
install(FILES ${PROJECT_BINARY_DIR}/pealConfig.cmake ${PROJECT_BINARY_DIR}/pealConfigVersion.cmake
        DESTINATION ${package_dir})

if(PEAL_TESTS)
    set(installed_python "")
    if(TARGET peal_python)
        set(installed_python ${PEAL_PYTHON_EXECUTABLE})
    endif()
    add_test(NAME install.consumer
             COMMAND ${CMAKE_COMMAND} -D BUILD_DIR=${PROJECT_BINARY_DIR}
                     -D GENERATOR=${CMAKE_GENERATOR} -D COMPILER=${CMAKE_CXX_COMPILER}
                     -D SANITIZE=${PEAL_SANITIZE} -D LIBDIR=${CMAKE_INSTALL_LIBDIR}
                     -D PYTHON=${installed_python}
                     -P ${PROJECT_SOURCE_DIR}/tests/install/run.cmake)
endif()
