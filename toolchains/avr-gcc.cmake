# GCC for AVR without an operating system, with avr-libc. Flags are those of a target description:
#   cmake -B build -DCMAKE_TOOLCHAIN_FILE=.../toolchains/avr-gcc.cmake                   of targets/avr.xml
#   the same with -DETCH_TARGET_FILE=board.xml                                           of your own core
# Programs print to UART 0 (avr_console.c); etch runs them with the library of simavr.
set(CMAKE_SYSTEM_PROCESSOR avr)
set(ETCH_TARGET_FILE "${CMAKE_CURRENT_LIST_DIR}/../targets/avr.xml" CACHE FILEPATH "Target description with flags and memories")
find_program(CMAKE_C_COMPILER NAMES avr-gcc REQUIRED)
find_program(CMAKE_CXX_COMPILER NAMES avr-g++)
include("${CMAKE_CURRENT_LIST_DIR}/bare_metal.cmake")
