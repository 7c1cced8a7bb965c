# Reuses objects between build folders where ccache is installed; says nothing where it is not.
find_program(HF_CCACHE ccache)
if(HF_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${HF_CCACHE})
endif()
