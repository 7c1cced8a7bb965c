# hf_room(<name> DIR <folder> SOURCES <file>... [DEPENDS <room>...] [LINKS <target>...])
# One library a room. DEPENDS is the whole list of rooms that it may include: the linker needs it, and
# tools/dev/check_rooms.py holds every #include against it. LINKS are third parties, seen by the room's own sources only.
function(hf_room name)
  cmake_parse_arguments(ROOM "" "DIR" "SOURCES;DEPENDS;LINKS" ${ARGN})
  cmake_path(ABSOLUTE_PATH ROOM_DIR NORMALIZE OUTPUT_VARIABLE folder)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${folder}/*.h)
  list(TRANSFORM ROOM_DEPENDS PREPEND hf_)
  if(CMAKE_CURRENT_SOURCE_DIR STREQUAL PROJECT_SOURCE_DIR/src OR CMAKE_CURRENT_SOURCE_DIR MATCHES "/src$")
    set(root ${CMAKE_CURRENT_SOURCE_DIR})
  else()
    set(root ${PROJECT_SOURCE_DIR})
  endif()

  add_library(hf_${name} STATIC)
  add_library(hf::${name} ALIAS hf_${name})
  target_sources(hf_${name} PRIVATE ${ROOM_SOURCES} PUBLIC FILE_SET HEADERS BASE_DIRS ${root} FILES ${headers})
  target_link_libraries(hf_${name} PUBLIC hf_flags ${ROOM_DEPENDS} PRIVATE ${ROOM_LINKS})
  set_target_properties(hf_${name} PROPERTIES EXPORT_NAME ${name} VERIFY_INTERFACE_HEADER_SETS ON)
  set_property(GLOBAL APPEND PROPERTY HF_ROOMS ${name})
  install(TARGETS hf_${name} EXPORT hfTargets FILE_SET HEADERS DESTINATION include/hf)
endfunction()

add_library(hf_flags INTERFACE)
target_compile_features(hf_flags INTERFACE cxx_std_20)
target_include_directories(hf_flags INTERFACE "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src;${PROJECT_SOURCE_DIR}>")
target_compile_options(hf_flags INTERFACE
  "$<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wconversion;-Wno-sign-conversion>>"
  # GCC 12 and 13 see overlaps in std::string's operator+ that are not there (GCC's bug 105329).
  "$<BUILD_INTERFACE:$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>>"
  # CMake 3.25 does not know CUDA_STANDARD 20 with nvcc 13 and drops it silently.
  "$<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>>")
set_target_properties(hf_flags PROPERTIES EXPORT_NAME flags)
install(TARGETS hf_flags EXPORT hfTargets)
