// Losses of float32 elements, and gradients times their slopes.
#pragma once

#include "kernels/map.h"

namespace mindtorch {

// Of input and target; the slopes of a gradient, input and target, times the first of the numbers.
enum Loss { SQUARED, SMOOTH, HUBER, CROSS_ENTROPY, CROSS_ENTROPY_OF_LOGITS, LOSS_COUNT };
enum LossSlope { SQUARED_SLOPE, SMOOTH_SLOPE, HUBER_SLOPE, CROSS_ENTROPY_SLOPE, LOSS_SLOPE_COUNT };

struct LossLoops {
    Map loss[LOSS_COUNT];
    Map slope[LOSS_SLOPE_COUNT];
};

MINDTORCH_DECLARE_LOOPS(LossLoops, loss_loops)

}  // namespace mindtorch
