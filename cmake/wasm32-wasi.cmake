# WebAssembly by clang and wasi-libc as Debian packs them (clang, lld, llvm, wasi-libc, libclang-rt-14-dev-wasm32).
# Another WASI SDK: set KK_WASI_SYSROOT to its sysroot and CMAKE_C_COMPILER to its clang.
# cmake/Platform/WASI.cmake tells CMake what WASI is like
list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
set(CMAKE_SYSTEM_NAME WASI)
set(CMAKE_SYSTEM_PROCESSOR wasm32)

set(KK_WASI_SYSROOT /usr CACHE PATH "holds include/wasm32-wasi and lib/wasm32-wasi")
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES KK_WASI_SYSROOT)
if(NOT CMAKE_C_COMPILER)
    set(CMAKE_C_COMPILER clang)
endif()
# GNU ar cannot index WebAssembly objects
find_program(CMAKE_AR NAMES llvm-ar REQUIRED)
find_program(CMAKE_RANLIB NAMES llvm-ranlib REQUIRED)
set(CMAKE_C_COMPILER_TARGET wasm32-wasi)
set(CMAKE_SYSROOT ${KK_WASI_SYSROOT})
set(CMAKE_C_FLAGS_INIT "-msimd128 -mnontrapping-fptoint -msign-ext")
# -O0 as the last of its kind: clang, told to optimize, hands the result to a wasm-opt on the PATH, which refuses SIMD
set(CMAKE_EXE_LINKER_FLAGS_INIT "-O0 -Wl,-z,stack-size=1048576")

# the host's programs, never the host's libraries
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
