# Clang for Arm cores without an operating system: its vector code for Helium is better than GCC 12's. GCC's driver links, with its C
# library. Flags and memories are those of a target description:
#   cmake -B build -DCMAKE_TOOLCHAIN_FILE=.../toolchains/clang-arm-none-eabi.cmake       of targets/cortex-m55.xml
#   the same with -DETCH_TARGET_FILE=board.xml                                           of your own core and board
# cortex-m55 is the MPS3 AN547 board, which QEMU emulates:
#   qemu-system-arm -M mps3-an547 -display none -monitor none -serial none -semihosting-config enable=on,target=native -kernel PROGRAM
set(CMAKE_SYSTEM_PROCESSOR arm)
set(ETCH_TARGET_FILE "${CMAKE_CURRENT_LIST_DIR}/../targets/cortex-m55.xml" CACHE FILEPATH "Target description with flags and memories")
find_program(CMAKE_C_COMPILER NAMES clang-19 clang REQUIRED)
find_program(CMAKE_CXX_COMPILER NAMES clang++-19 clang++)
find_program(ETCH_LINKER NAMES arm-none-eabi-gcc REQUIRED)
include("${CMAKE_CURRENT_LIST_DIR}/bare_metal.cmake")
