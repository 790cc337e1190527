# etch_math.h as LLVM IR inside of etch: what kernels in C call, kernels in IR call too. As Clang writes it before any optimisation,
# because the processor that the kernels run on is known only then. Nothing in it is contracted: each helper rounds as it is written.
find_program(ETCH_CLANG NAMES clang clang-${LLVM_VERSION_MAJOR} HINTS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH REQUIRED)
set(folder ${CMAKE_CURRENT_SOURCE_DIR}/renderer)
set(ir ${CMAKE_CURRENT_BINARY_DIR}/llvm_math.ll)
set(text ${CMAKE_CURRENT_BINARY_DIR}/llvm_math.cc)
add_custom_command(OUTPUT ${text}
  COMMAND ${ETCH_CLANG} -std=gnu99 -O3 -Xclang -disable-llvm-passes -ffp-contract=off -fno-math-errno -fno-asynchronous-unwind-tables
          -I${PROJECT_SOURCE_DIR}/runtime_c -S -emit-llvm llvm_math.c -o ${ir}
  COMMAND ${CMAKE_COMMAND} -DIR=${ir} -DTEXT=${text} -P ${folder}/llvm_math_text.cmake
  WORKING_DIRECTORY ${folder}
  DEPENDS ${folder}/llvm_math.c ${folder}/llvm_math_text.cmake ${PROJECT_SOURCE_DIR}/runtime_c/etch_math.h
  COMMENT "Compiling etch_math.h to LLVM IR" VERBATIM)
target_sources(etch_renderer PRIVATE ${text})
