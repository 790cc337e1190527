# GCC for RISC-V cores of 32 and 64 bits without an operating system, with picolibc. Flags and memories are those of a target
# description:
#   cmake -B build -DCMAKE_TOOLCHAIN_FILE=.../toolchains/riscv64-unknown-elf-gcc.cmake   of targets/rv32imc.xml
#   the same with -DETCH_TARGET_FILE=board.xml                                           of your own core and board
# rv32imc is QEMU's board virt; programs run under semihosting (console, exit status):
#   qemu-system-riscv32 -M virt -bios none -display none -monitor none -serial none -semihosting-config enable=on,target=native -kernel PROGRAM
set(CMAKE_SYSTEM_PROCESSOR riscv)
set(ETCH_TARGET_FILE "${CMAKE_CURRENT_LIST_DIR}/../targets/rv32imc.xml" CACHE FILEPATH "Target description with flags and memories")
find_program(CMAKE_C_COMPILER NAMES riscv64-unknown-elf-gcc REQUIRED)
find_program(CMAKE_CXX_COMPILER NAMES riscv64-unknown-elf-g++)
include("${CMAKE_CURRENT_LIST_DIR}/bare_metal.cmake")
