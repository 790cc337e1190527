# GCC for the machine that builds. Use: cmake -B build -DCMAKE_TOOLCHAIN_FILE=gcc.cmake
find_program(CMAKE_C_COMPILER NAMES gcc cc REQUIRED)
find_program(CMAKE_CXX_COMPILER NAMES g++ c++)
set(CMAKE_C_FLAGS_RELEASE_INIT "-O3 -march=native")
set(CMAKE_CXX_FLAGS_RELEASE_INIT "-O3 -march=native")
