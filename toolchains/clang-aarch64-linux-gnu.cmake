# Clang for AArch64 with Linux: GCC 12 converts vectors of bytes one by one. Flags are those of a target description:
#   cmake -B build -DCMAKE_TOOLCHAIN_FILE=.../toolchains/clang-aarch64-linux-gnu.cmake     of targets/cortex-a55.xml
#   the same with -DETCH_TARGET_FILE=board.xml     of your own core
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(ETCH_TARGET_FILE "${CMAKE_CURRENT_LIST_DIR}/../targets/cortex-a55.xml" CACHE FILEPATH "Target description with flags")
include("${CMAKE_CURRENT_LIST_DIR}/clang_linux.cmake")
