// Convolutions of float32 planes whose channels lie side by side.
#pragma once

#include <stddef.h>

#include "kernels/kernel.h"
#include "kernels/conv.h"
#include "simd/cpu_capability.h"

namespace mindtorch {

// Windows of one element are products of the elements' channels with the weights, depthwise ones are sums of vectors of
// channels. 0 for all others, and where one of the arrays has its channels elsewhere; the weights may have any strides.
int convolution_last(const Convolution& c, PyObject* out, PyObject* input, PyObject* weight, const float* bias);

}  // namespace mindtorch
