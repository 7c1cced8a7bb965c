set(HF_CUDA_SOURCES cuda/absent.cpp)
set(HF_CUDA_LINKS)
