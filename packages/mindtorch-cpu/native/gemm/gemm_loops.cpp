// Matrix products: the blocked one and that of a few rows.
#include "gemm/gemv.h"

namespace mindtorch {

extern const GemmLoops<float> MINDTORCH_LOOPS(gemm_loops) = {TILE_ROWS, Simd<float>::TILE_COLUMNS, scratch_size<float>,
                                                             multiply<float>, multiply_few<float>};
extern const GemmLoops<double> MINDTORCH_LOOPS(gemm_double_loops) = {
    TILE_ROWS, Simd<double>::TILE_COLUMNS, scratch_size<double>, multiply<double>, multiply_few<double>};

}  // namespace mindtorch
