# What the toolchain files share of Clang for Linux on another processor, which links with what the GCC for it brings. They set
# CMAKE_SYSTEM_PROCESSOR and the default of ETCH_TARGET_FILE, whose flags these are. Programs are linked statically: QEMU's user mode runs
# them on another machine, as the processor that the description's emulator is told to be, and ctest does so by itself.
set(CMAKE_SYSTEM_NAME Linux)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ETCH_TARGET_FILE)
include("${CMAKE_CURRENT_LIST_DIR}/read_target.cmake")

find_program(CMAKE_C_COMPILER NAMES clang-19 clang REQUIRED)
find_program(CMAKE_CXX_COMPILER NAMES clang++-19 clang++)
find_program(ETCH_QEMU NAMES qemu-${CMAKE_SYSTEM_PROCESSOR})
if(ETCH_QEMU)
  etch_target_texts(arguments "${ETCH_TARGET_FILE}" arg)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${ETCH_QEMU} ${arguments})
endif()

etch_target_flags(flags "${ETCH_TARGET_FILE}" "^-[^O]")
etch_target_flags(optimize "${ETCH_TARGET_FILE}" "^-O")
etch_target_link(link "${ETCH_TARGET_FILE}")
set(CMAKE_ASM_COMPILER ${CMAKE_C_COMPILER})
foreach(language C CXX ASM)
  string(JOIN " " CMAKE_${language}_FLAGS_INIT ${flags})
  set(CMAKE_${language}_FLAGS_RELEASE "${optimize} -DNDEBUG" CACHE STRING "Flags of release builds")
endforeach()
# clang links with all flags, and would warn of those that only compile.
string(JOIN " " CMAKE_EXE_LINKER_FLAGS_INIT ${link} -Wno-unused-command-line-argument)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
