# Clang for the machine that builds; release 19 where it is installed. Its vector code for tiles in GNU vector extensions
# is better than GCC's. An emitted project adds the flags of its target by itself. Use:
#   cmake -B build -DCMAKE_TOOLCHAIN_FILE=clang.cmake
find_program(CMAKE_C_COMPILER NAMES clang-19 clang REQUIRED)
find_program(CMAKE_CXX_COMPILER NAMES clang++-19 clang++)
