# Clang for AArch64 with Linux, with the linker and libraries of the GCC for it: GCC 12 converts vectors of bytes one by one. Flags are those of a target description:
#   cmake -B build -DCMAKE_TOOLCHAIN_FILE=.../toolchains/clang-aarch64-linux-gnu.cmake     of targets/cortex-a55.xml
#   the same with -DETCH_TARGET_FILE=board.xml                                           of your own core
# Programs are linked statically: qemu-aarch64 PROGRAM runs them on another machine, and ctest does so by itself.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(ETCH_TARGET_FILE "${CMAKE_CURRENT_LIST_DIR}/../targets/cortex-a55.xml" CACHE FILEPATH "Target description with flags")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ETCH_TARGET_FILE)
include("${CMAKE_CURRENT_LIST_DIR}/read_target.cmake")

find_program(CMAKE_C_COMPILER NAMES clang-19 clang REQUIRED)
find_program(CMAKE_CXX_COMPILER NAMES clang++-19 clang++)
find_program(ETCH_QEMU NAMES qemu-aarch64)
if(ETCH_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${ETCH_QEMU})
endif()

etch_target_flags(flags "${ETCH_TARGET_FILE}" "^-[^O]")
etch_target_flags(optimize "${ETCH_TARGET_FILE}" "^-O")
etch_target_link(link "${ETCH_TARGET_FILE}")
set(CMAKE_ASM_COMPILER ${CMAKE_C_COMPILER})
foreach(language C CXX ASM)
  string(JOIN " " CMAKE_${language}_FLAGS_INIT ${flags})
  set(CMAKE_${language}_FLAGS_RELEASE "${optimize} -DNDEBUG" CACHE STRING "Flags of release builds")
endforeach()
string(JOIN " " CMAKE_EXE_LINKER_FLAGS_INIT ${link})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
