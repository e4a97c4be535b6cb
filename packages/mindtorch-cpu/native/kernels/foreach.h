// A chain: pointwise steps over arrays of one geometry, run block by block, so that a step finds in the cache what the
// one before it left there. Every step rounds as the operator of its name does.
#pragma once

#include "simd/cpu_capability.h"

namespace mindtorch {

// As `operation_names` in foreach.cpp.
enum Operation : unsigned char {
    CHAIN_NEGATIVE,
    CHAIN_ROOT,
    CHAIN_ABSOLUTE,
    CHAIN_RECIPROCAL,  // out = f(a)
    CHAIN_MULTIPLY,
    CHAIN_DIVIDE,
    CHAIN_MAXIMUM,  // out = a op b
    CHAIN_ADD_SCALED,
    CHAIN_SUBTRACT_SCALED,
    CHAIN_LERP,  // out = f(a, b, number)
    CHAIN_ADD_NUMBER,
    CHAIN_SUBTRACT_NUMBER,
    CHAIN_MULTIPLY_NUMBER,
    CHAIN_DIVIDE_NUMBER,  // out = a op number
    CHAIN_ADD_PRODUCT,
    CHAIN_ADD_QUOTIENT,   // out = a + number * b op c
    CHAIN_ADAM,           // out, b, c (and d, unless it is out): one step of Adam along a; ADAM_NUMBERS numbers
    CHAIN_ADAM_STEPWISE,  // the same, rounding after every step of the composed optimizer; STEPWISE_NUMBERS numbers
    CHAIN_ADAGRAD,        // out, b: one step of Adagrad along a; ADAGRAD_NUMBERS numbers
    OPERATION_COUNT
};

// Of CHAIN_ADAM, in this order, from `number` on.
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

// Of CHAIN_ADAM_STEPWISE.
enum StepwiseNumber {
    STEPWISE_MEAN_WEIGHT,
    STEPWISE_SQUARE_KEPT,
    STEPWISE_SQUARE_WEIGHT,
    STEPWISE_ROOT_CORRECTION,
    STEPWISE_EPS,
    STEPWISE_MOVE,
    STEPWISE_NUMBERS
};

// Of CHAIN_ADAGRAD.
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
