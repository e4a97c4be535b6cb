// Which build of the loops fits this machine.
#include "simd/cpu_capability.h"

#include <stdlib.h>
#include <string.h>

namespace mindtorch {

namespace {

const char* const names[] = {"base", "v2", "v3", "v4"};

int supported() {
#ifdef MINDTORCH_X86_LEVELS
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return 3;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
        __builtin_cpu_supports("bmi2"))
        return 2;
    if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("popcnt"))
        return 1;
#endif
    return 0;
}

// The widest set of this machine, or the one that MINDTORCH_INSTRUCTIONS names where it is narrower.
int choose() {
    const int widest = supported();
    const char* wanted = getenv("MINDTORCH_INSTRUCTIONS");
    for (int set = 0; wanted != nullptr && set < widest; set++)
        if (strcmp(wanted, names[set]) == 0) return set;
    return widest;
}

bool multiplies_pairs() {
    const char* wanted = getenv("MINDTORCH_INSTRUCTIONS");
#ifdef MINDTORCH_X86_LEVELS
    return supported() == 3 && __builtin_cpu_supports("avx512bf16") && (wanted == nullptr || *wanted == '\0');
#else
    return false;
#endif
}

}  // namespace

extern const int instruction_set = choose();
extern const bool has_avx512_bf16 = multiplies_pairs();

const char* instruction_set_name() { return names[instruction_set]; }

}  // namespace mindtorch
