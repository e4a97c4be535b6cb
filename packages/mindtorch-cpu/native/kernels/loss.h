// Losses of float32 elements, and gradients times their derivatives.
#pragma once

#include "kernels/map.h"

namespace mindtorch {

// Of input and target.
#define MINDTORCH_LOSSES(X)                     \
    X(mse_loss, MseLoss)                        \
    X(smooth_l1_loss, SmoothL1Loss)             \
    X(huber_loss, HuberLoss)                    \
    X(binary_cross_entropy, BinaryCrossEntropy) \
    X(binary_cross_entropy_with_logits, BinaryCrossEntropyWithLogits)

// Of a gradient, input and target, times the first of the numbers.
#define MINDTORCH_LOSS_BACKWARDS(X)                  \
    X(mse_loss_backward, MseLossBackward)            \
    X(smooth_l1_loss_backward, SmoothL1LossBackward) \
    X(huber_loss_backward, HuberLossBackward)        \
    X(binary_cross_entropy_backward, BinaryCrossEntropyBackward)

struct LossLoops {
#define MINDTORCH_LOSS(name, Op) Map name;
    MINDTORCH_LOSSES(MINDTORCH_LOSS)
    MINDTORCH_LOSS_BACKWARDS(MINDTORCH_LOSS)
#undef MINDTORCH_LOSS
};

MINDTORCH_DECLARE_LOOPS(LossLoops, loss_loops)

}  // namespace mindtorch
