// Matrix products: the blocked one and that of a few rows.
#include "gemm/skinny.h"

namespace mindtorch {

extern const GemmLoops<float> MINDTORCH_LOOPS(gemm_loops) = {MR,
                                                             Simd<float>::NR,
                                                             scratch_size<float>,
                                                             multiply<float>,
                                                             multiply_skinny<float>,
                                                             Simd<float>::WIDTH,
                                                             multiply_tiny<float>};
extern const GemmLoops<double> MINDTORCH_LOOPS(gemm_double_loops) = {MR,
                                                                     Simd<double>::NR,
                                                                     scratch_size<double>,
                                                                     multiply<double>,
                                                                     multiply_skinny<double>,
                                                                     Simd<double>::WIDTH,
                                                                     multiply_tiny<double>};

}  // namespace mindtorch
