# Sets HF_CUDA_SOURCES, relative to runtime/, and HF_CUDA_LINKS: what the runtime room is built of and linked with.
# HF_CUDA_KERNELS are the .cu files alone: the tests compile them a second time, for the emulator.
set(HF_CUDA_KERNELS)
foreach(kernel arg_max binary cast compare cumsum gather gelu layer_norm range reduce relayout softmax unary where)
  list(APPEND HF_CUDA_KERNELS cuda/${kernel}.cu)
endforeach()
set(HF_CUDA_HOST cuda/cuda_device.cpp cuda/matrix_product.cpp cuda/open.cpp cuda/run.cpp cuda/walk.cpp)

if(HF_WITH_CUDA)
  set(HF_CUDA_SOURCES ${HF_CUDA_HOST} ${HF_CUDA_KERNELS})
  set(HF_CUDA_LINKS CUDA::cudart CUDA::cublasLt)
  set_source_files_properties(${HF_CUDA_KERNELS} PROPERTIES COMPILE_OPTIONS "-Werror=all-warnings;-Xcompiler=-Wall,-Wextra")
else()
  set(HF_CUDA_SOURCES cuda/absent.cpp)
  set(HF_CUDA_LINKS)
endif()
