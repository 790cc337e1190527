# Clang for the machine that builds; release 19 where it is installed. Its vector code for tiles in GNU vector extensions
# is better than GCC's. Use: cmake -B build -DCMAKE_TOOLCHAIN_FILE=clang.cmake
find_program(CMAKE_C_COMPILER NAMES clang-19 clang REQUIRED)
find_program(CMAKE_CXX_COMPILER NAMES clang++-19 clang++)
set(CMAKE_C_FLAGS_RELEASE_INIT "-O3 -march=native")
set(CMAKE_CXX_FLAGS_RELEASE_INIT "-O3 -march=native")
