// Which build of the loops fits this machine.
#include "instructions.h"

namespace mindtorch {

namespace {

int choose() {
#ifdef MINDTORCH_X86_LEVELS
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return 2;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
        __builtin_cpu_supports("bmi2"))
        return 1;
#endif
    return 0;
}

}  // namespace

extern const int instruction_set = choose();

}  // namespace mindtorch
