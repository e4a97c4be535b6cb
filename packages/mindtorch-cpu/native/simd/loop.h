// A loop whose elements are read before they are written, so that operands may be the output: the compiler need not
// look whether they overlap.
#pragma once

#if defined(__clang__)
#define MINDTORCH_IVDEP _Pragma("clang loop vectorize(assume_safety)")
#else
#define MINDTORCH_IVDEP _Pragma("GCC ivdep")
#endif
