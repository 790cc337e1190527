# Clang for RISC-V of 64 bits with Linux. Flags are those of a target description:
#   cmake -B build -DCMAKE_TOOLCHAIN_FILE=.../toolchains/clang-riscv64-linux-gnu.cmake     of targets/rv64gc.xml
#   the same with -DETCH_TARGET_FILE=.../targets/rv64gcv.xml     with vectors of 256 bits
#   the same with -DETCH_TARGET_FILE=board.xml     of your own core
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(ETCH_TARGET_FILE "${CMAKE_CURRENT_LIST_DIR}/../targets/rv64gc.xml" CACHE FILEPATH "Target description with flags")
include("${CMAKE_CURRENT_LIST_DIR}/clang_linux.cmake")
