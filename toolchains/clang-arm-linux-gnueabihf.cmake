# Clang for Armv7-A with Linux (hard float): GCC 12 makes no NEON of vectors of floats. Flags are those of a target description:
#   cmake -B build -DCMAKE_TOOLCHAIN_FILE=.../toolchains/clang-arm-linux-gnueabihf.cmake     of targets/cortex-a7.xml
#   the same with -DETCH_TARGET_FILE=board.xml     of your own core
set(CMAKE_SYSTEM_PROCESSOR arm)
set(ETCH_TARGET_FILE "${CMAKE_CURRENT_LIST_DIR}/../targets/cortex-a7.xml" CACHE FILEPATH "Target description with flags")
include("${CMAKE_CURRENT_LIST_DIR}/clang_linux.cmake")
