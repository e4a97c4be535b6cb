// Sums and products of all elements up to each, in double precision.
#include "reduction_vector.h"

namespace mindtorch {

namespace {

template <typename Op, typename T>
void running(void* given, const void* from, size_t count, size_t step, size_t width) {
    using W = typename Wide<T>::Of;
    auto* out = static_cast<T*>(given);
    const auto* in = static_cast<const T*>(from);
    if (width == 1) {
        W total = Op::template identity<W>();
        for (size_t i = 0; i < count; i++) {
            total = Op::combine(total, (W)in[i * step]);
            out[i * step] = (T)total;
        }
        return;
    }
    W totals[COLUMNS];
    for (size_t j = 0; j < width; j++) totals[j] = Op::template identity<W>();
    for (size_t row = 0; row < count; row++, out += step, in += step) {
#pragma GCC ivdep
        for (size_t j = 0; j < width; j++) {
            totals[j] = Op::combine(totals[j], (W)in[j]);
            out[j] = (T)totals[j];
        }
    }
}

}  // namespace

extern const RunningLoops MINDTORCH_LOOPS(running_loops) = {
    {running<Sum, float>, running<Sum, double>, running<Sum, long long>, nullptr},
    {running<Product, float>, running<Product, double>, running<Product, long long>, nullptr},
};

}  // namespace mindtorch
