// Which build of the loops fits this machine.
#include "operand.h"

namespace mindtorch {

namespace {

const Instructions base = {loops_base, rows_base};
#ifdef MINDTORCH_X86_LEVELS
const Instructions v3 = {loops_v3, rows_v3};
const Instructions v4 = {loops_v4, rows_v4};
#endif

const Instructions* choose() {
#ifdef MINDTORCH_X86_LEVELS
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return &v4;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
        __builtin_cpu_supports("bmi2"))
        return &v3;
#endif
    return &base;
}

}  // namespace

const Instructions& instructions() {
    static const Instructions* const chosen = choose();
    return *chosen;
}

}  // namespace mindtorch
