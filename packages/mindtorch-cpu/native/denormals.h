// What a thread's arithmetic makes of denormal numbers.
#pragma once

#include <stdint.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace mindtorch {

// The processor's word of control: how this thread rounds, and whether it takes denormal numbers for zeros.
using FloatControl = uint64_t;

#if defined(__x86_64__)
constexpr bool CAN_FLUSH_DENORMALS = true;
constexpr FloatControl FLUSHING = 0x8040;  // of results, and of operands
inline FloatControl float_control() { return _mm_getcsr(); }
inline void set_float_control(FloatControl control) { _mm_setcsr(static_cast<unsigned int>(control)); }
#elif defined(__aarch64__)
constexpr bool CAN_FLUSH_DENORMALS = true;
constexpr FloatControl FLUSHING = 1 << 24;  // of both
inline FloatControl float_control() {
    FloatControl control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return control;
}
inline void set_float_control(FloatControl control) { __asm__ volatile("msr fpcr, %0" ::"r"(control)); }
#else
constexpr bool CAN_FLUSH_DENORMALS = false;
constexpr FloatControl FLUSHING = 0;
inline FloatControl float_control() { return 0; }
inline void set_float_control(FloatControl) {}
#endif

// A part of the pool computes as the thread that called it; its own ways come back afterwards.
class SameFloatControl {
public:
    explicit SameFloatControl(FloatControl wanted) : before_(float_control()) {
        changed_ = ((before_ ^ wanted) & FLUSHING) != 0;
        if (changed_) set_float_control((before_ & ~FLUSHING) | (wanted & FLUSHING));
    }
    SameFloatControl(const SameFloatControl&) = delete;
    SameFloatControl& operator=(const SameFloatControl&) = delete;
    ~SameFloatControl() {
        if (changed_) set_float_control(before_);
    }

private:
    FloatControl before_;
    bool changed_;
};

}  // namespace mindtorch
