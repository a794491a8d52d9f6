/// The swarm's kernels by eight lanes, for AVX-512.
#ifdef KKI_HAVE_AVX512
#ifndef __clang__
// GCC takes vectors apart that a function's own target has no registers for, before it puts the function in line where there are some
#pragma GCC target("avx2,avx512f,avx512vl,avx512dq,avx512bw,prefer-vector-width=512")
#endif
#define KKI_SWARM_WIDTH 8
#include "contact/swarm_kernels.h"

KKI_SWARM_DEFINE(avx512, , __attribute__((target("avx2,avx512f,avx512vl,avx512dq,avx512bw"))), true)
#else
typedef int kki_no_octs; // a file is not to be empty
#endif
