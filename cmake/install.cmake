# The installed package: all rooms in one library, its headers, and the peal command.
#
#   find_package(peal REQUIRED)
#   target_link_libraries(mine PRIVATE peal::peal)
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# Linked from the rooms' objects, so that no room is exported; without the record of runs, whether
# there are tests or not.
list(TRANSFORM PEAL_ROOMS REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
add_library(peal STATIC "$<FILTER:${objects},EXCLUDE,/run_record\\.cpp>" src/engine/run_record.cpp)
target_include_directories(peal PRIVATE ${PROJECT_SOURCE_DIR}/src)
add_library(peal::peal ALIAS peal)
target_compile_features(peal PUBLIC cxx_std_20)
target_include_directories(peal PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                       $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(peal PUBLIC fmt::fmt Threads::Threads PRIVATE hwy::hwy ${CMAKE_DL_LIBS})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/peal)
configure_package_config_file(cmake/pealConfig.cmake.in ${PROJECT_BINARY_DIR}/pealConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/pealConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)

install(DIRECTORY include/peal include/pto DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS peal EXPORT pealTargets)
if(TARGET peal_cli)
    install(TARGETS peal_cli)
endif()
install(EXPORT pealTargets NAMESPACE peal:: DESTINATION ${package_dir})
install(FILES ${PROJECT_BINARY_DIR}/pealConfig.cmake ${PROJECT_BINARY_DIR}/pealConfigVersion.cmake
        DESTINATION ${package_dir})

if(PEAL_TESTS)
    add_test(NAME install.consumer
             COMMAND ${CMAKE_COMMAND} -D BUILD_DIR=${PROJECT_BINARY_DIR}
                     -D GENERATOR=${CMAKE_GENERATOR} -D COMPILER=${CMAKE_CXX_COMPILER}
                     -D SANITIZE=${PEAL_SANITIZE}
                     -P ${PROJECT_SOURCE_DIR}/tests/install/run.cmake)
endif()
