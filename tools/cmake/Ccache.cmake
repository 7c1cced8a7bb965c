# Reuses objects between build folders and clones where ccache is installed; says nothing where it is not. Paths are
# hashed relative to the source tree, and debug information names them so.
find_program(HF_CCACHE ccache)
if(HF_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(HF_CCACHE_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=true ${HF_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${HF_CCACHE_LAUNCHER})
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.>")
endif()
