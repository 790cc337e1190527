# GCC for Arm cores without an operating system, C and C++. Flags and memories are those of a target description:
#   cmake -B build -DCMAKE_TOOLCHAIN_FILE=.../toolchains/arm-none-eabi-gcc.cmake         of targets/cortex-m4f.xml
#   the same with -DETCH_TARGET_FILE=board.xml                                           of your own core and board
# cortex-m4f is the MPS2 AN386 board, which QEMU emulates; programs run under a debugger's or an emulator's semihosting
# (console, exit status):
#   qemu-system-arm -M mps2-an386 -display none -monitor none -serial none -semihosting-config enable=on,target=native -kernel PROGRAM
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(ETCH_TARGET_FILE "${CMAKE_CURRENT_LIST_DIR}/../targets/cortex-m4f.xml" CACHE FILEPATH "Target description with flags and memories")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ETCH_TARGET_FILE)
include("${CMAKE_CURRENT_LIST_DIR}/read_target.cmake")

find_program(CMAKE_C_COMPILER NAMES arm-none-eabi-gcc REQUIRED)
find_program(CMAKE_CXX_COMPILER NAMES arm-none-eabi-g++)
set(CMAKE_ASM_COMPILER ${CMAKE_C_COMPILER})
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY) # a test program does not link before the memories are known

etch_target_flags(flags "${ETCH_TARGET_FILE}" "^-[^O]")
etch_target_flags(optimize "${ETCH_TARGET_FILE}" "^-O")
etch_target_link(link "${ETCH_TARGET_FILE}")
foreach(language C CXX ASM)
  string(JOIN " " CMAKE_${language}_FLAGS_INIT ${flags})
endforeach()
foreach(language C CXX) # CMake's own is -O3, which takes flash
  set(CMAKE_${language}_FLAGS_RELEASE "${optimize} -DNDEBUG" CACHE STRING "Flags of release builds")
endforeach()
string(JOIN " " CMAKE_EXE_LINKER_FLAGS_INIT ${link})

# Without a C++ library (Debian: libstdc++-arm-none-eabi-picolibc) C++ is what the compiler does alone: no exceptions, no type
# information, nothing from libstdc++; the C compiler links, since the C++ compiler would ask for that library.
if(CMAKE_CXX_COMPILER)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} ${flags} -print-file-name=libstdc++.a
    OUTPUT_VARIABLE cxx_library OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT EXISTS "${cxx_library}")
    string(APPEND CMAKE_CXX_FLAGS_INIT " -fno-exceptions -fno-rtti -fno-threadsafe-statics -fno-use-cxa-atexit")
    set(CMAKE_CXX_LINK_EXECUTABLE
      "${CMAKE_C_COMPILER} <FLAGS> <CMAKE_CXX_LINK_FLAGS> <LINK_FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES>")
  endif()
endif()

foreach(language C CXX ASM)
  set(CMAKE_EXECUTABLE_SUFFIX_${language} .elf)
endforeach()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
