# GCC for Arm cores without an operating system, C and C++. Flags and memories are those of a target description:
#   cmake -B build -DCMAKE_TOOLCHAIN_FILE=.../toolchains/arm-none-eabi-gcc.cmake         of targets/cortex-m4f.xml
#   the same with -DETCH_TARGET_FILE=.../targets/cortex-m3.xml                           of another core
#   the same with -DETCH_TARGET_FILE=board.xml                                           of your own core and board
# cortex-m4f is the MPS2 AN386 board, which QEMU emulates; programs run under a debugger's or an emulator's semihosting
# (console, exit status):
#   qemu-system-arm -M mps2-an386 -display none -monitor none -serial none -semihosting-config enable=on,target=native -kernel PROGRAM
set(CMAKE_SYSTEM_PROCESSOR arm)
set(ETCH_TARGET_FILE "${CMAKE_CURRENT_LIST_DIR}/../targets/cortex-m4f.xml" CACHE FILEPATH "Target description with flags and memories")
find_program(CMAKE_C_COMPILER NAMES arm-none-eabi-gcc REQUIRED)
find_program(CMAKE_CXX_COMPILER NAMES arm-none-eabi-g++)
include("${CMAKE_CURRENT_LIST_DIR}/bare_metal.cmake")
