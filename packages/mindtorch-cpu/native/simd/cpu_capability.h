// How loops are built once per instruction set. A family declares the type of its table of loops in `<family>.h`,
//
//     struct SoftmaxLoops { void (*forward)(float* out, const float* in, size_t rows, size_t width); };
//     MINDTORCH_DECLARE_LOOPS(SoftmaxLoops, softmax_loops)
//
// defines it in `<family>_loops.cpp`, which CMakeLists.txt lists under `loop_sources`,
//
//     extern const SoftmaxLoops MINDTORCH_LOOPS(softmax_loops) = {forward};
//
// and calls `softmax_loops().forward(...)` in `<family>.cpp`: the table that fits this machine. Loop files use no C++
// library and keep all they define in an anonymous namespace: nothing built for a wider set may be shared with code of
// the base set.
#pragma once

#include <stddef.h>

#define MINDTORCH_JOIN_NAMES(name, set) name##_##set
#define MINDTORCH_JOIN(name, set) MINDTORCH_JOIN_NAMES(name, set)

#ifdef MINDTORCH_SET

#define MINDTORCH_LOOPS(name) MINDTORCH_JOIN(name, MINDTORCH_SET)
#define MINDTORCH_DECLARE_LOOPS(Type, name) extern const Type MINDTORCH_LOOPS(name);

#else

namespace mindtorch {

// 0: the base set of the processor's family; 1 to 3: x86-64 v2, v3 and v4. Set when the module is loaded.
extern const int instruction_set;
const char* instruction_set_name();

// True where the processor multiplies pairs of bfloat16, which no level has, and no level was asked for.
extern const bool has_avx512_bf16;

}  // namespace mindtorch

#ifdef MINDTORCH_X86_LEVELS
#define MINDTORCH_DECLARE_LOOPS(Type, name)                                                   \
    extern const Type name##_base, name##_v2, name##_v3, name##_v4;                           \
    inline const Type& name() {                                                               \
        static const Type* const each[] = {&name##_base, &name##_v2, &name##_v3, &name##_v4}; \
        return *each[instruction_set];                                                        \
    }
#else
#define MINDTORCH_DECLARE_LOOPS(Type, name) \
    extern const Type name##_base;          \
    inline const Type& name() { return name##_base; }
#endif

#endif
