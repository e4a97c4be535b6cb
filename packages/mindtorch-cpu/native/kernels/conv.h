// Convolutions of float32 planes and volumes.
#pragma once

#include <stddef.h>

#include "simd/cpu_capability.h"

namespace mindtorch {

// One convolution of images (batch, channels, depth, height, width), dense; a plane is a volume of one layer, a line a
// plane of one row. What the layers of a window see counts as channels of a plane.
struct Convolution {
    size_t batch, groups, channels, features;  // channels and features of one group
    ptrdiff_t height, width, out_height, out_width;
    ptrdiff_t kernel[2], stride[2], padding[2], dilation[2];
    ptrdiff_t depth, out_depth, deep_kernel, deep_stride, deep_padding, deep_dilation;
};

struct ConvLoops {
    // How many positions of a result one part has; what a part and the packed weights need, in elements.
    size_t (*positions)(const Convolution& c);
    size_t (*scratch)(const Convolution& c);
    size_t (*packed)(const Convolution& c);
    // Weights (features, channels * kernel) of each group, packed for `forward`.
    void (*pack)(const Convolution& c, float* to, const float* weight);
    // A part of one layer of the result of one image and group, from `packed`; image and layer are one index, the bias
    // may be null.
    void (*forward)(const Convolution& c, float* out, const float* in, const float* packed, const float* bias,
                    size_t image, size_t group, size_t from, float* scratch);
    // Depthwise convolutions of windows of at most `most_elements` elements: whole planes from `from` to `to`, image
    // and feature being one index; the gradient of one feature's weights.
    size_t most_elements;
    size_t (*depthwise_scratch)(const Convolution& c);
    void (*depthwise)(const Convolution& c, float* out, const float* in, const float* weight, const float* bias,
                      size_t from, size_t to, float* scratch);
    void (*depthwise_weight)(const Convolution& c, float* weight_grad, const float* grad, const float* in,
                             size_t feature, float* scratch);
    // The weights that turn a result's gradient into the input's where the stride is 1.
    void (*turn)(const Convolution& c, float* to, const float* weight);
    // The gradient of one image and group's input at any stride, added to the bias, which may be null.
    size_t (*spread_scratch)(const Convolution& c);
    void (*spread)(const Convolution& c, float* in_grad, const float* grad, const float* weight, const float* bias,
                   size_t image, size_t group, float* scratch);
    // The gradient of a group's weights, some of its features' from `from` to `to`, over all images.
    size_t (*weight_scratch)(const Convolution& c);
    void (*weight_gradient)(const Convolution& c, float* weight_grad, const float* grad, const float* in, size_t group,
                            size_t from, size_t to, float* scratch);
    void (*bias_gradient)(const Convolution& c, float* bias_grad, const float* grad, size_t from, size_t to);
};

MINDTORCH_DECLARE_LOOPS(ConvLoops, conv_loops)

}  // namespace mindtorch
