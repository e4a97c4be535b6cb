# One native module per state of its sources, shared by the environments of a checkout: `include` it after find_package(Python).
# `hatchw` names the folder in MINDTORCH_NATIVE_CACHE; without the variable nothing here has an effect. Where the module of this
# state is there, it is installed and `native_module_kept` is true; else the module is built, with its progress written down
# for tools/hatch_run.py, and kept.
set(native_module_kept FALSE)
set(native_cache "$ENV{MINDTORCH_NATIVE_CACHE}")
if(NOT native_cache OR NOT SKBUILD OR CMAKE_VERSION VERSION_LESS 3.19)
  return()
endif()

# Everything that the module is made of: sources, the compiler and its flags, the ABIs of Python and numpy.
file(GLOB_RECURSE native_sources FOLLOW_SYMLINKS LIST_DIRECTORIES FALSE "${CMAKE_CURRENT_SOURCE_DIR}/native/*"
  "${CMAKE_CURRENT_SOURCE_DIR}/src/*/layout.py" "${CMAKE_CURRENT_SOURCE_DIR}/src/*/include/*"
  "${CMAKE_CURRENT_SOURCE_DIR}/src/*/_native.pyi")
list(SORT native_sources)
set(native_state "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} ${CMAKE_SYSTEM_NAME} ${CMAKE_SYSTEM_PROCESSOR}"
  "${CMAKE_BUILD_TYPE} ${CMAKE_CXX_FLAGS} ${CMAKE_MODULE_LINKER_FLAGS} ${MINDTORCH_SANITIZE}"
  "${Python_SOABI} ${Python_VERSION} ${Python_NumPy_VERSION} ${CMAKE_INTERPROCEDURAL_OPTIMIZATION}")
foreach(source "${CMAKE_CURRENT_LIST_FILE}" "${CMAKE_CURRENT_SOURCE_DIR}/CMakeLists.txt" ${native_sources})
  file(SHA256 "${source}" hash)
  file(RELATIVE_PATH source "${CMAKE_CURRENT_SOURCE_DIR}" "${source}")
  list(APPEND native_state "${source} ${hash}")
endforeach()
string(SHA256 native_key "${native_state}")
string(SUBSTRING "${native_key}" 0 20 native_key)
set(native_kept "${native_cache}/${PROJECT_NAME}-${native_key}/_native.${Python_SOABI}${CMAKE_SHARED_MODULE_SUFFIX}")
set(native_progress "${native_cache}/${PROJECT_NAME}.progress")

if(EXISTS "${native_kept}")
  message(STATUS "the native module of this state is ${native_kept}")
  install(FILES "${native_kept}" DESTINATION ${PROJECT_NAME})
  file(WRITE "${native_progress}" "taken\n")
  file(TOUCH "${native_kept}") # the newest stay when the folder is tidied
  set(native_module_kept TRUE)
  return()
endif()

# A line for every file that was compiled; the first one says how many there are. A launcher that the user has set, such as
# ccache, runs inside.
set(CMAKE_CXX_COMPILER_LAUNCHER sh "${CMAKE_CURRENT_LIST_DIR}/native_progress.sh" "${native_progress}"
  ${CMAKE_CXX_COMPILER_LAUNCHER})

function(native_cache_keep)
  set(count 0)
  get_property(targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target ${targets})
    get_target_property(excluded ${target} EXCLUDE_FROM_ALL)
    get_target_property(sources ${target} SOURCES)
    if(sources AND NOT excluded)
      list(FILTER sources INCLUDE REGEX "\\.cpp$")
      list(LENGTH sources more)
      math(EXPR count "${count} + ${more}")
    endif()
  endforeach()
  file(WRITE "${native_progress}" "${count}\n")
  get_filename_component(folder "${native_kept}" DIRECTORY)
  # Put in place by a rename, as two environments may build at once.
  add_custom_command(TARGET _native POST_BUILD VERBATIM
    COMMAND ${CMAKE_COMMAND} -E make_directory "${folder}"
    COMMAND ${CMAKE_STRIP} -o "${CMAKE_CURRENT_BINARY_DIR}/kept" "$<TARGET_FILE:_native>"
    COMMAND ${CMAKE_COMMAND} -E copy "${CMAKE_CURRENT_BINARY_DIR}/kept" "${native_kept}.new"
    COMMAND ${CMAKE_COMMAND} -E rename "${native_kept}.new" "${native_kept}")
endfunction()
cmake_language(DEFER CALL native_cache_keep)
