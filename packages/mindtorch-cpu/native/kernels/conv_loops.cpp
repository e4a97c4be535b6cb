// Convolution as a product with the windows of an image, which are packed as they are read: there are no columns in
// memory.
#include "kernels/conv.h"
#include "kernels/conv_depthwise.h"
#include "kernels/conv_frame.h"
#include "gemm/microkernel.h"

namespace mindtorch {

namespace {

constexpr size_t NR = Simd<float>::NR;
constexpr size_t PART = 512;  // positions

size_t places(const Convolution& c) { return static_cast<size_t>(c.out_height * c.out_width); }
size_t area(const Convolution& c) { return static_cast<size_t>(c.height * c.width); }
size_t window(const Convolution& c) { return static_cast<size_t>(c.kernel[0] * c.kernel[1]); }
size_t layers(const Convolution& c) { return static_cast<size_t>(c.deep_kernel); }
size_t depth_of(const Convolution& c) { return c.channels * layers(c) * window(c); }
// How much of the depth is multiplied at a time.
size_t depth_step(const Convolution& c) { return even_step(depth_of(c), PACKED_KC, PREFETCH_STEP); }
size_t all_places(const Convolution& c) { return static_cast<size_t>(c.out_depth) * places(c); }
size_t volume(const Convolution& c) { return static_cast<size_t>(c.depth) * area(c); }

// The layer of an image's channels that layer `z` of the result sees, the window's layers being channels of their own;
// null outside of the image.
const float* layer_of(const Convolution& c, const float* image, size_t z, size_t channel) {
    const ptrdiff_t at = static_cast<ptrdiff_t>(z) * c.deep_stride - c.deep_padding +
                         static_cast<ptrdiff_t>(channel % layers(c)) * c.deep_dilation;
    if (at < 0 || at >= c.depth) return nullptr;
    return image + (channel / layers(c)) * volume(c) + static_cast<size_t>(at) * area(c);
}

bool pointwise(const Convolution& c) {
    return window(c) == 1 && c.stride[0] == 1 && c.stride[1] == 1 && c.padding[0] == 0 && c.padding[1] == 0 &&
           c.deep_kernel == 1 && c.deep_stride == 1 && c.deep_padding == 0;
}

// The columns of a result that see the image at one offset of the window.
struct Span {
    ptrdiff_t from, to;
};

MINDTORCH_INLINE Span span(ptrdiff_t offset, ptrdiff_t stride, ptrdiff_t extent, ptrdiff_t count) {
    Span s;
    s.from = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
    const ptrdiff_t last = extent - 1 - offset;
    s.to = last < 0 ? 0 : last / stride + 1;
    if (s.to > count) s.to = count;
    return s;
}

// `count` values of one row of an image, `step` apart, from column `x` on; zeros outside of it.
MINDTORCH_INLINE void copy_row(float* to, const float* row, ptrdiff_t width, ptrdiff_t x, ptrdiff_t step,
                               ptrdiff_t count) {
    Span s = {0, count};
    if (x < 0 || x + (count - 1) * step >= width) s = span(x, step, width, count);  // which divides
    if (s.from >= s.to) {
        for (ptrdiff_t i = 0; i < count; i++) to[i] = 0.0f;
        return;
    }
    for (ptrdiff_t i = 0; i < s.from; i++) to[i] = 0.0f;
    const float* from = row + x;
    if (step == 1)
        for (ptrdiff_t i = s.from; i < s.to; i++) to[i] = from[i];
    else if (step == 2)
        for (ptrdiff_t i = s.from; i < s.to; i++) to[i] = from[2 * i];
    else
        for (ptrdiff_t i = s.from; i < s.to; i++) to[i] = from[i * step];
    for (ptrdiff_t i = s.to; i < count; i++) to[i] = 0.0f;
}

// An element of the window: its channel, that one's plane, and how far from a position's corner it lies.
struct Element {
    size_t channel;
    const float* plane;
    ptrdiff_t down, across;
};

MINDTORCH_INLINE void advance(const Convolution& c, const float* image, size_t z, Element& e) {
    if (++e.across < c.kernel[1]) return;
    e.across = 0;
    if (++e.down < c.kernel[0]) return;
    e.down = 0;
    if (++e.channel < c.channels * layers(c)) e.plane = layer_of(c, image, z, e.channel);
}

// What an element of the window has at `positions` positions from (row, column) on.
MINDTORCH_INLINE void read_element(const Convolution& c, float* to, const Element& e, ptrdiff_t row, ptrdiff_t column,
                                   size_t positions) {
    const ptrdiff_t down = e.down * c.dilation[0] - c.padding[0], across = e.across * c.dilation[1] - c.padding[1];
    for (size_t done = 0; done < positions; row++, column = 0) {
        const size_t rest = static_cast<size_t>(c.out_width - column), count = least(rest, positions - done);
        const ptrdiff_t y = row * c.stride[0] + down;
        if (e.plane != nullptr && y >= 0 && y < c.height)
            copy_row(to + done, e.plane + y * c.width, c.width, column * c.stride[1] + across, c.stride[1],
                     static_cast<ptrdiff_t>(count));
        else
            for (size_t i = 0; i < count; i++) to[done + i] = 0.0f;
        done += count;
    }
}

// How many rows of the result a part's positions lie in, at most.
ptrdiff_t part_rows(const Convolution& c) {
    const ptrdiff_t rows = (static_cast<ptrdiff_t>(PART) + c.out_width - 2) / c.out_width + 1;
    return rows < c.out_height ? rows : c.out_height;
}

// Channels of which a block of the depth has elements, at most.
size_t block_channels(const Convolution& c) { return least(depth_step(c) / window(c) + 2, c.channels * layers(c)); }

// What the windows of an image have at a block of the depth, packed panel by panel: from frames of its channels, which
// are made for the block, or as they are.
class Windows {
public:
    Windows(const Convolution& c, size_t from, size_t positions)
        : c_(c),
          from_(from),
          frame_(c, static_cast<ptrdiff_t>(from) / c.out_width,
                 static_cast<ptrdiff_t>(from + positions - 1) / c.out_width -
                     static_cast<ptrdiff_t>(from) / c.out_width + 1,
                 c.out_width) {}

    // Begin with the elements `k`.. of the windows of layer `z`; `frames` is memory.
    void take(const float* image, size_t z, float* frames, size_t k, size_t depth) {
        depth_ = depth;
        plane_ = image + k * volume(c_) + z * area(c_);
        frames_ = frames;
        if (pointwise(c_)) return;
        const size_t channel = k / window(c_), end = (k + depth - 1) / window(c_) + 1;
        for (size_t at = channel; at < end; at++) {
            float* to = frames + (at - channel) * static_cast<size_t>(frame_.size);
            const float* plane = layer_of(c_, image, z, at);
            clear_frame(frame_, to);
            if (plane != nullptr) copy_plane(c_, frame_, to, plane);
        }
        places_of(c_, frame_, reads_, k, depth);
    }
    // Pack the panel of `positions` positions, `at` after the first.
    void pack_panel(float* to, size_t at, size_t positions) const {
        if (pointwise(c_))
            pack<NR>(to, plane_ + from_ + at, 1, static_cast<ptrdiff_t>(volume(c_)), positions, depth_);
        else
            pack_frame(c_, frame_, to, frames_, static_cast<ptrdiff_t>(from_ + at), positions, reads_, depth_);
    }

private:
    const Convolution& c_;
    size_t from_, depth_ = 0;
    Frame frame_;
    const float *plane_ = nullptr, *frames_ = nullptr;
    ptrdiff_t reads_[PACKED_KC];
};

size_t positions_of(const Convolution& c) { return even_step(round_up(places(c), NR), PART, NR); }
size_t panel_for(const Convolution& c) { return NR * depth_step(c) + NR; }
size_t scratch_for(const Convolution& c) {
    if (pointwise(c)) return panel_for(c);
    const Frame f(c, 0, part_rows(c), c.out_width);
    return panel_for(c) + block_channels(c) * static_cast<size_t>(f.size) + FRAME_SLACK;
}
size_t packed_for(const Convolution& c) { return c.groups * round_up(c.features, MR) * depth_of(c); }

void pack_weights(const Convolution& c, float* to, const float* weight) {
    const size_t all = depth_of(c), lines = round_up(c.features, MR), step = depth_step(c);
    for (size_t group = 0; group < c.groups; group++, weight += c.features * all)
        for (size_t k = 0; k < all; k += step) {
            const size_t depth = least(step, all - k);
            pack<MR>(to, weight + k, static_cast<ptrdiff_t>(all), 1, c.features, depth);
            to += lines * depth;
        }
}

void forward(const Convolution& c, float* out, const float* in, const float* packed, const float* bias, size_t image,
             size_t group, size_t from, float* scratch) {
    const size_t all = depth_of(c), lines = round_up(c.features, MR), step = depth_step(c);
    const size_t positions = least(positions_of(c), places(c) - from);
    const size_t index = image / static_cast<size_t>(c.out_depth) * c.groups + group;
    const size_t z = image % static_cast<size_t>(c.out_depth);
    packed += group * lines * all;
    in += index * c.channels * volume(c);
    out += index * c.features * all_places(c) + z * places(c) + from;
    const Matrix<float> addend = {bias == nullptr ? nullptr : bias + group * c.features, 1, 0};
    Windows windows(c, from, positions);
    for (size_t k = 0; k < all; k += step) {
        const size_t depth = least(step, all - k);
        const Epilogue<float> epilogue = {1.0f, 1.0f, addend, k > 0};
        windows.take(in, z, scratch + panel_for(c), k, depth);
        for (size_t at = 0; at < positions; at += NR) {
            const size_t columns = least(NR, positions - at);
            windows.pack_panel(scratch, at, columns);
            multiply_block(out + at, static_cast<ptrdiff_t>(all_places(c)), packed + k * lines, scratch, c.features,
                           columns, depth, depth, epilogue);
        }
    }
}

void turn(const Convolution& c, float* to, const float* weight) {
    const size_t size = layers(c) * window(c);
    for (size_t group = 0; group < c.groups; group++)
        for (size_t channel = 0; channel < c.channels; channel++)
            for (size_t feature = 0; feature < c.features; feature++) {
                const float* from = weight + ((group * c.features + feature) * c.channels + channel) * size;
                for (size_t k = 0; k < size; k++) *to++ = from[size - 1 - k];
            }
}

// Rows of spread values that are made at a time: whole channels.
size_t spread_channels(const Convolution& c) {
    const size_t wanted = 96 / (layers(c) * window(c));
    return least(wanted < 1 ? 1 : wanted, c.channels);
}

size_t product_scratch(size_t rows, size_t columns, size_t depth) {
    return round_up(scratch_size<float>(rows, columns, depth), 16);
}

size_t spread_scratch(const Convolution& c) {
    const size_t rows = spread_channels(c) * layers(c) * window(c);
    return round_up(rows * all_places(c), 16) + product_scratch(rows, all_places(c), c.features);
}

// Add the values of one offset of the window to where they came from.
void spread_plane(const Convolution& c, float* plane, const float* values, float factor, ptrdiff_t down,
                  ptrdiff_t across) {
    const ptrdiff_t offset = across * c.dilation[1] - c.padding[1], step = c.stride[1];
    const Span s = span(offset, step, c.width, c.out_width);
    for (ptrdiff_t y = 0; y < c.out_height; y++, values += c.out_width) {
        const ptrdiff_t row = y * c.stride[0] + down * c.dilation[0] - c.padding[0];
        if (row < 0 || row >= c.height) continue;
        float* to = plane + row * c.width + offset;
        if (step == 1)
            for (ptrdiff_t x = s.from; x < s.to; x++) to[x] += values[x] * factor;
        else
            for (ptrdiff_t x = s.from; x < s.to; x++) to[x * step] += values[x] * factor;
    }
}

// The same for all layers of a channel, of one element of the window.
void spread_layers(const Convolution& c, float* channel, const float* values, float factor, size_t k) {
    const ptrdiff_t at = static_cast<ptrdiff_t>(k % window(c)), layer = static_cast<ptrdiff_t>(k / window(c));
    for (ptrdiff_t z = 0; z < c.out_depth; z++, values += places(c)) {
        const ptrdiff_t to = z * c.deep_stride - c.deep_padding + layer * c.deep_dilation;
        if (to >= 0 && to < c.depth)
            spread_plane(c, channel + to * c.height * c.width, values, factor, at / c.kernel[1], at % c.kernel[1]);
    }
}

void spread(const Convolution& c, float* in_grad, const float* grad, const float* weight, const float* bias,
            size_t image, size_t group, float* scratch) {
    const size_t index = image * c.groups + group, size = layers(c) * window(c), count = all_places(c),
                 together = spread_channels(c);
    in_grad += index * c.channels * volume(c);
    grad += index * c.features * count;
    weight += group * c.features * depth_of(c);
    float* memory = scratch + round_up(together * size * count, 16);
    for (size_t channel = 0; channel < c.channels; channel++) {
        const float begin = bias == nullptr ? 0.0f : bias[group * c.channels + channel];
        for (size_t i = 0; i < volume(c); i++) in_grad[channel * volume(c) + i] = begin;
    }
    if (c.channels == 1 && c.features == 1) {
        for (size_t k = 0; k < size; k++) spread_layers(c, in_grad, grad, weight[k], k);
        return;
    }
    for (size_t channel = 0; channel < c.channels; channel += together) {
        const size_t channels = least(together, c.channels - channel);
        multiply<float>({channels * size,
                         count,
                         c.features,
                         {weight + channel * size, 1, static_cast<ptrdiff_t>(depth_of(c))},
                         {grad, static_cast<ptrdiff_t>(count), 1},
                         scratch,
                         static_cast<ptrdiff_t>(count),
                         1,
                         1.0f,
                         0.0f,
                         {nullptr, 0, 0}},
                        memory);
        for (size_t k = 0; k < channels * size; k++)
            spread_layers(c, in_grad + (channel + k / size) * volume(c), scratch + k * count, 1.0f, k % size);
    }
}

constexpr size_t TOGETHER = KC;  // positions summed up at a time

size_t weight_scratch(const Convolution& c) {
    return round_up(round_up(c.features, MR) * TOGETHER, 16) + (round_up(depth_of(c), NR) + NR) * TOGETHER;
}

// Pack the window's elements as columns, positions being the depth; `rows` holds a panel's elements first.
void pack_elements(const Convolution& c, float* to, float* rows, const float* image, size_t z, size_t from,
                   size_t positions) {
    const size_t all = depth_of(c);
    const ptrdiff_t row = static_cast<ptrdiff_t>(from) / c.out_width,
                    column = static_cast<ptrdiff_t>(from) % c.out_width;
    Element e = {0, layer_of(c, image, z, 0), 0, 0};
    for (size_t first = 0; first < all; first += NR, to += NR * positions) {
        const size_t elements = least(NR, all - first);
        for (size_t i = 0; i < elements; i++, advance(c, image, z, e))
            read_element(c, rows + i * TOGETHER, e, row, column, positions);
        pack<NR>(to, rows, TOGETHER, 1, elements, positions);
    }
}

void weight_gradient(const Convolution& c, float* weight_grad, const float* grad, const float* in, size_t group,
                     size_t from, size_t to, float* scratch) {
    const size_t count = places(c), all = depth_of(c);
    float *lines = scratch, *columns = scratch + round_up(round_up(c.features, MR) * TOGETHER, 16);
    bool accumulate_out = false;
    for (size_t image = 0; image < c.batch * static_cast<size_t>(c.out_depth); image++) {
        const size_t index = image / static_cast<size_t>(c.out_depth) * c.groups + group;
        const size_t z = image % static_cast<size_t>(c.out_depth);
        const float* own = grad + (index * c.features + from) * all_places(c) + z * count;
        const float* picture = in + index * c.channels * volume(c);
        for (size_t at = 0; at < count; at += TOGETHER, accumulate_out = true) {
            const size_t positions = least(TOGETHER, count - at);
            pack<MR>(lines, own + at, static_cast<ptrdiff_t>(all_places(c)), 1, to - from, positions);
            if (pointwise(c))
                pack<NR>(columns, picture + z * area(c) + at, static_cast<ptrdiff_t>(volume(c)), 1, all, positions);
            else
                pack_elements(c, columns, columns + round_up(all, NR) * TOGETHER, picture, z, at, positions);
            multiply_block(weight_grad + (group * c.features + from) * all, static_cast<ptrdiff_t>(all), lines, columns,
                           to - from, all, positions, positions,
                           Epilogue<float>{1.0f, 0.0f, {nullptr, 0, 0}, accumulate_out});
        }
    }
}

void bias_gradient(const Convolution& c, float* bias_grad, const float* grad, size_t from, size_t to) {
    const size_t features = c.groups * c.features, count = all_places(c);
    for (size_t feature = from; feature < to; feature++) {
        double sum = 0;
        for (size_t image = 0; image < c.batch; image++) {
            const float* own = grad + (image * features + feature) * count;
            typename Simd<float>::Vector accumulators = {};
            size_t i = 0;
            for (; i + Simd<float>::WIDTH <= count; i += Simd<float>::WIDTH) accumulators += read(own + i);
            for (size_t lane = 0; lane < Simd<float>::WIDTH; lane++) sum += static_cast<double>(accumulators[lane]);
            for (; i < count; i++) sum += static_cast<double>(own[i]);
        }
        bias_grad[feature] = static_cast<float>(sum);
    }
}

}  // namespace

extern const ConvLoops MINDTORCH_LOOPS(conv_loops) = {
    positions_of,      scratch_for,     packed_for,       pack_weights, forward,        MOST_ELEMENTS,
    depthwise_scratch, depthwise,       depthwise_weight, turn,         spread_scratch, spread,
    weight_scratch,    weight_gradient, bias_gradient};

}  // namespace mindtorch
