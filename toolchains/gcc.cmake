# GCC for the machine that builds. An emitted project adds the flags of its target by itself. Use:
#   cmake -B build -DCMAKE_TOOLCHAIN_FILE=gcc.cmake
find_program(CMAKE_C_COMPILER NAMES gcc cc REQUIRED)
find_program(CMAKE_CXX_COMPILER NAMES g++ c++)
