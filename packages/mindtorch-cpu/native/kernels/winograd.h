// Convolutions of 3 by 3 windows at every position by Winograd's minimal filtering, F(2 x 2, 3 x 3): a tile of two by
// two results takes 16 multiplications where the sums take 36. Its constants are halves, so that small whole numbers
// stay exact.
#pragma once

#include "kernels/conv.h"

namespace mindtorch {

constexpr size_t WINOGRAD_PLACES = 16;  // elements of a transformed tile

// Weights as a convolution reads them: the steps between features and channels, and whether windows are turned.
struct WinogradWeights {
    const float* data;
    ptrdiff_t feature, channel;
    bool turned;
};

// Tiles of one group lie in rows, those of one image after those of the one before; a block is some rows of tiles.
struct WinogradLoops {
    size_t mr;
    size_t (*tile_rows)(const Convolution& c);  // of all images
    size_t (*block)(const Convolution& c);      // rows of tiles that are worked on together, at most

    // Weights of one group, transformed and packed; features `from` to `to`, `from` being a multiple of `mr`.
    size_t (*packed)(const Convolution& c);
    void (*pack)(const Convolution& c, float* to, const WinogradWeights& weights, size_t from, size_t end);
    // A block of the result of one group; false where a result is not finite, which sums may be where these are not.
    size_t (*scratch)(const Convolution& c, size_t rows);
    bool (*forward)(const Convolution& c, float* out, const float* in, const float* packed, const float* bias,
                    size_t group, size_t row, size_t rows, float* scratch);

    // The gradient of one group's weights: of a block of tiles, transformed channels and gradients of features; sums of
    // their products for `features` features from `from` on at one place of a tile, added where `add`; and what the
    // sums give.
    size_t (*gradient_block)(const Convolution& c);
    size_t (*operand)(const Convolution& c, size_t lines, size_t rows);
    size_t (*line_scratch)(const Convolution& c, size_t rows);
    void (*channel)(const Convolution& c, float* to, const float* in, size_t group, size_t channel, size_t row,
                    size_t rows, float* scratch);
    void (*feature)(const Convolution& c, float* to, const float* grad, size_t group, size_t feature, size_t row,
                    size_t rows, float* scratch);
    size_t (*sums)(const Convolution& c);
    size_t (*sum_scratch)(const Convolution& c, size_t features, size_t rows);
    void (*sum)(const Convolution& c, float* sums, const float* features, const float* channels, size_t place,
                size_t from, size_t count, size_t rows, bool add, float* scratch);
    bool (*gradient)(const Convolution& c, float* weight_grad, const float* sums, size_t from, size_t to);
};

MINDTORCH_DECLARE_LOOPS(WinogradLoops, winograd_loops)

// False where the convolution is none of these, there is no memory, or a result is not finite: then sums give it.
bool winograd(const Convolution& c, float* out, const float* in, const WinogradWeights& weights, const float* bias);
bool winograd_weight_gradient(const Convolution& c, float* weight_grad, const float* grad, const float* in);

}  // namespace mindtorch
