# Cortex-M4F with picolibc; the program runs under a debugger's or an emulator's semihosting (console, exit status).
# Use: cmake -B build -DCMAKE_TOOLCHAIN_FILE=arm-none-eabi-gcc.cmake
# The memory map is the MPS2 AN386 board's, which QEMU emulates:
#   qemu-system-arm -M mps2-an386 -display none -monitor none -serial none -semihosting-config enable=on,target=native -kernel PROGRAM
# For another board change the four lines about __flash and __ram.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR cortex-m4)
find_program(CMAKE_C_COMPILER NAMES arm-none-eabi-gcc REQUIRED)
set(CMAKE_ASM_COMPILER ${CMAKE_C_COMPILER})
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY) # a test program does not link before the memories are known

set(cpu -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 --specs=picolibc.specs)
list(APPEND cpu -DPICOLIBC_INTEGER_PRINTF_SCANF) # printf without %f: the other one brings double arithmetic in software
set(sections -ffunction-sections -fdata-sections)
string(JOIN " " CMAKE_C_FLAGS_INIT ${cpu} ${sections})
set(CMAKE_ASM_FLAGS_INIT ${CMAKE_C_FLAGS_INIT})
set(CMAKE_C_FLAGS_RELEASE_INIT "-O2")

set(link
  --oslib=semihost
  --crt0=hosted
  -Tpicolibc.ld
  -Wl,--gc-sections
  -Wl,--no-warn-rwx-segments
  -Wl,--defsym=__flash=0
  -Wl,--defsym=__flash_size=4194304
  -Wl,--defsym=__ram=536870912
  -Wl,--defsym=__ram_size=4194304
  -Wl,--defsym=__stack_size=65536)
string(JOIN " " CMAKE_EXE_LINKER_FLAGS_INIT ${link})
set(CMAKE_EXECUTABLE_SUFFIX_C .elf)
set(CMAKE_EXECUTABLE_SUFFIX_ASM .elf)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
