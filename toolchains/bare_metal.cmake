# What the toolchain files of cores without an operating system share. They set CMAKE_C_COMPILER and CMAKE_CXX_COMPILER (a command,
# or NOTFOUND), ETCH_LINKER where the compiler does not link itself, and the default of ETCH_TARGET_FILE; flags, memories and link
# settings are those of that description.
set(CMAKE_SYSTEM_NAME Generic)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ETCH_TARGET_FILE)
include("${CMAKE_CURRENT_LIST_DIR}/read_target.cmake")

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

# Without a C++ library (Debian's of GCC: libstdc++-arm-none-eabi-picolibc) C++ is what the compiler does alone: no exceptions, no type
# information, nothing from libstdc++; the C compiler links, since the C++ compiler would ask for that library. A call of a pure virtual
# function then faults.
if(CMAKE_CXX_COMPILER)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} ${flags} -print-file-name=libstdc++.a
    OUTPUT_VARIABLE cxx_library OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT EXISTS "${cxx_library}")
    string(APPEND CMAKE_CXX_FLAGS_INIT " -fno-exceptions -fno-rtti -fno-threadsafe-statics -fno-use-cxa-atexit")
    set(alone "-Wl,--defsym=__cxa_pure_virtual=0")
    set(CMAKE_CXX_LINK_EXECUTABLE
      "${CMAKE_C_COMPILER} <FLAGS> ${alone} <CMAKE_CXX_LINK_FLAGS> <LINK_FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES>")
  endif()
endif()
if(ETCH_LINKER) # it takes its own flags, not the compiler's
  foreach(language C CXX)
    set(CMAKE_${language}_LINK_EXECUTABLE
      "${ETCH_LINKER} ${alone} <CMAKE_${language}_LINK_FLAGS> <LINK_FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES>")
  endforeach()
endif()

foreach(language C CXX ASM)
  set(CMAKE_EXECUTABLE_SUFFIX_${language} .elf)
endforeach()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
