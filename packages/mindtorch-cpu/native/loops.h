// The loops over contiguous elements, by instruction set. No C++ library is used here: nothing built for a wider set may
// be shared with code of the base set.
#pragma once

#include <stddef.h>

namespace mindtorch {

enum Binary { ADD, SUBTRACT, MULTIPLY, DIVIDE, BINARY_COUNT };
enum Unary { NEGATIVE, SQUARE_ROOT, ABSOLUTE, RECTIFY, UNARY_COUNT };

// Which operand of a binary loop is one number for all elements.
enum Shape { BOTH, LEFT_NUMBER, RIGHT_NUMBER, SHAPE_COUNT };

using BinaryLoop = void (*)(void* out, const void* left, const void* right, size_t count);
using UnaryLoop = void (*)(void* out, const void* in, size_t count);

// [0] is float, [1] is double.
struct Loops {
    BinaryLoop binary[BINARY_COUNT][SHAPE_COUNT][2];
    UnaryLoop unary[UNARY_COUNT][2];
};

extern const Loops loops_base;
extern const Loops loops_v3;
extern const Loops loops_v4;

enum Activation { EXPONENTIAL, TANGENT, ERROR_FUNCTION, SIGMOID, SILU, GELU, GELU_BY_TANGENT, ACTIVATION_COUNT };
enum Slope { GELU_SLOPE, GELU_BY_TANGENT_SLOPE, SLOPE_COUNT };
enum Share { SOFTMAX, LOG_SOFTMAX, SHARE_COUNT };

struct LayerNorm {
    float *out, *mean, *scale;
};

// Null where no gradient is asked for.
struct LayerNormGradients {
    float *input, *weight, *bias;
};

// Float32 only.
struct Rows {
    void (*activation[ACTIVATION_COUNT])(float* out, const float* in, size_t count);
    void (*slope[SLOPE_COUNT])(float* out, const float* grad, const float* in, size_t count);
    void (*share[SHARE_COUNT])(float* out, const float* in, size_t rows, size_t width);
    void (*share_backward[SHARE_COUNT])(float* out, const float* grad, const float* result, size_t rows, size_t width);
    void (*layer_norm)(const LayerNorm& to, const float* in, const float* weight, const float* bias, size_t rows,
                       size_t width, double eps);
    void (*layer_norm_backward)(const LayerNormGradients& to, const float* grad, const float* in, const float* mean,
                                const float* scale, const float* weight, size_t rows, size_t width);
};

extern const Rows rows_base;
extern const Rows rows_v3;
extern const Rows rows_v4;

}  // namespace mindtorch
