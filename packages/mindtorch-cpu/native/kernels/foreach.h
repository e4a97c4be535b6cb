// A chain: pointwise steps over arrays of one geometry, run block by block, so that a step finds in the cache what the
// one before it left there. Every step rounds as the operator of its name does.
#pragma once

#include "simd/cpu_capability.h"

namespace mindtorch {

// The steps' operations: what they make of their operands a, b and c and of a number, or how many numbers they take.
#define MINDTORCH_CHAIN_OPERATIONS(X)                                                                     \
    X(neg, 1) /* out = f(a) */                                                                            \
    X(sqrt, 1)                                                                                            \
    X(abs, 1)                                                                                             \
    X(reciprocal, 1)                                                                                      \
    X(mul, 1) /* out = a op b */                                                                          \
    X(div, 1)                                                                                             \
    X(maximum, 1)                                                                                         \
    X(add_scaled, 1) /* out = f(a, b, number) */                                                          \
    X(sub_scaled, 1)                                                                                      \
    X(lerp, 1)                                                                                            \
    X(add_number, 1) /* out = a op number */                                                              \
    X(sub_number, 1)                                                                                      \
    X(mul_number, 1)                                                                                      \
    X(div_number, 1)                                                                                      \
    X(addcmul, 1) /* out = a + number * b op c */                                                         \
    X(addcdiv, 1)                                                                                         \
    X(adam, ADAM_NUMBERS)              /* out, b, c (and d, unless it is out): one step along a */        \
    X(adam_stepwise, STEPWISE_NUMBERS) /* the same, rounded after every step of the composed optimizer */ \
    X(adagrad, ADAGRAD_NUMBERS)        /* out, b: one step along a */

#define MINDTORCH_NAME(name, numbers) CHAIN_##name,
enum Operation : unsigned char { MINDTORCH_CHAIN_OPERATIONS(MINDTORCH_NAME) OPERATION_COUNT };
#undef MINDTORCH_NAME

// Of CHAIN_adam, in this order, from `number` on.
enum AdamNumber {
    ADAM_SIGN,
    ADAM_DECAY,
    ADAM_KEPT,
    ADAM_MEAN_WEIGHT,
    ADAM_SQUARE_KEPT,
    ADAM_SQUARE_WEIGHT,
    ADAM_STEP_SIZE,
    ADAM_ROOT_CORRECTION,
    ADAM_EPS,
    ADAM_NUMBERS
};

// Of CHAIN_adam_stepwise.
enum StepwiseNumber {
    STEPWISE_MEAN_WEIGHT,
    STEPWISE_SQUARE_KEPT,
    STEPWISE_SQUARE_WEIGHT,
    STEPWISE_ROOT_CORRECTION,
    STEPWISE_EPS,
    STEPWISE_MOVE,
    STEPWISE_NUMBERS
};

// Of CHAIN_adagrad.
enum AdagradNumber { ADAGRAD_SIGN, ADAGRAD_DECAY, ADAGRAD_STEP_SIZE, ADAGRAD_EPS, ADAGRAD_NUMBERS };

// Slots and the place of the (first) number.
struct ChainStep {
    unsigned char operation, out, a, b, c, d, number, unused;
};

// Blocks are short, so that the processor reads ahead in all slots at a time: with longer ones it comes to the slots in
// turn, and waits for each.
constexpr size_t CHAIN_SLOTS = 16, CHAIN_TEMPORARIES = 4, CHAIN_BLOCK = 256;

// Run the steps on the elements from..to of the slots, [0] floats, [1] doubles. The slots after the `given` ones are
// temporaries.
struct ChainLoops {
    void (*run[2])(const ChainStep* steps, size_t step_count, void* const* slots, size_t given, const double* numbers,
                   size_t from, size_t to);
};

MINDTORCH_DECLARE_LOOPS(ChainLoops, chain_loops)

}  // namespace mindtorch
