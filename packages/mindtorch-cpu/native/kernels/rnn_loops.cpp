// Steps of recurrent layers: the product of the state with packed weights, and the gates' functions.
#include "gemm/microkernel.h"
#include "kernels/rnn.h"
#include "simd/double_function.h"

namespace mindtorch {
namespace {

// Vectors of either type, and the last part of a row.
template <typename Real>
struct Lanes;
template <>
struct Lanes<float> {
    using Vector = Floats;
    static INLINE Vector exponential(const Vector& x) { return exp(x); }
    static INLINE Vector tangent(const Vector& x) { return mindtorch::tanh(x); }
};
template <>
struct Lanes<double> {
    using Vector = Doubles;
    static INLINE Vector exponential(const Vector& x) { return double_exp(x); }
    // A quotient of polynomials near zero, where the other form loses digits.
    static INLINE Vector tangent(const Vector& x) {
        const Vector t = size_of(x), limited = t < 0.5 ? t : all_doubles(0.5), s = limited * limited;
        const Vector above = ((s + 378.0) * s + 17325.0) * s + 135135.0;
        const Vector below = ((s * 28.0 + 3150.0) * s + 62370.0) * s + 135135.0;
        const Vector large = 1.0 - 2.0 / (double_exp(t + t) + 1.0);
        return with_sign_of(t < 0.5 ? limited * above / below : large, x);
    }
};

template <typename Vector>
constexpr size_t LANES_OF = sizeof(Vector) / sizeof(Vector{}[0]);

// What reads and writes whole vectors, or the first `count` lanes.
template <typename Real, bool whole>
struct Access {
    using Vector = typename Lanes<Real>::Vector;
    size_t count;
    INLINE Vector get(const Real* from) const {
        Vector value = {};
        if constexpr (whole) {
            memcpy(&value, from, sizeof value);
        } else {
            Real lanes[LANES_OF<Vector>] = {};
            for (size_t i = 0; i < count; i++) lanes[i] = from[i];
            memcpy(&value, lanes, sizeof value);
        }
        return value;
    }
    INLINE void put(Real* to, const Vector& value) const {
        if constexpr (whole) {
            memcpy(to, &value, sizeof value);
        } else {
            Real lanes[LANES_OF<Vector>];
            memcpy(lanes, &value, sizeof value);
            for (size_t i = 0; i < count; i++) to[i] = lanes[i];
        }
    }
};

// Call body(access, row, place) for the elements from .. to of all rows.
template <typename Real, typename Body>
INLINE void each_vector(size_t rows, size_t from, size_t to, const Body& body) {
    constexpr size_t MANY = LANES_OF<typename Lanes<Real>::Vector>;
    for (size_t row = 0; row < rows; row++) {
        size_t at = from;
        for (; at + MANY <= to; at += MANY) body(Access<Real, true>{MANY}, row, at);
        if (at < to) body(Access<Real, false>{to - at}, row, at);
    }
}

template <typename Real>
INLINE typename Lanes<Real>::Vector sigmoid(const typename Lanes<Real>::Vector& x) {
    return Real(1) / (Lanes<Real>::exponential(-x) + Real(1));
}

template <typename Real, int mode>
void forward(const RnnStep<Real>& step, size_t from, size_t to) {
    using Vector = typename Lanes<Real>::Vector;
    const size_t h = step.hidden;
    each_vector<Real>(step.rows, from, to, [&](const auto& access, size_t row, size_t at) {
        Real* gates = step.gates + row * step.gates_row + at;
        const size_t place = row * h + at;
        Vector hidden;
        if constexpr (mode == RNN_LSTM) {
            const Vector i = sigmoid<Real>(access.get(gates)), f = sigmoid<Real>(access.get(gates + h));
            const Vector g = Lanes<Real>::tangent(access.get(gates + 2 * h));
            const Vector o = sigmoid<Real>(access.get(gates + 3 * h));
            const Vector cell = f * access.get(step.cy + place) + i * g;
            hidden = o * Lanes<Real>::tangent(cell);
            access.put(gates, i);
            access.put(gates + h, f);
            access.put(gates + 2 * h, g);
            access.put(gates + 3 * h, o);
            access.put(gates + 4 * h, cell);
            access.put(step.cy + place, cell);
        } else if constexpr (mode == RNN_GRU) {
            const Vector r = sigmoid<Real>(access.get(gates)), z = sigmoid<Real>(access.get(gates + h));
            const Vector n = Lanes<Real>::tangent(access.get(gates + 3 * h) + access.get(gates + 2 * h) * r);
            hidden = (access.get(step.hy + place) - n) * z + n;
            access.put(gates, r);
            access.put(gates + h, z);
            access.put(gates + 3 * h, n);
        } else {
            const Vector sum = access.get(gates);
            if constexpr (mode == RNN_TANH)
                hidden = Lanes<Real>::tangent(sum);
            else
                hidden = sum <= Real(0) ? Vector{} : sum;  // nan stays
        }
        access.put(step.out + place, hidden);
        access.put(step.hy + place, hidden);
    });
}

template <typename Real, int mode>
void backward(const RnnBackwardStep<Real>& step, size_t from, size_t to) {
    using Vector = typename Lanes<Real>::Vector;
    const size_t h = step.hidden;
    each_vector<Real>(step.rows, from, to, [&](const auto& access, size_t row, size_t at) {
        const Real* gates = step.gates + row * step.gates_row + at;
        Real* grads = step.grads + row * step.grads_row + at;
        const size_t place = row * h + at;
        Vector grad = access.get(step.grad_hidden + place);
        if (step.grad_out != nullptr) grad += access.get(step.grad_out + place);
        if constexpr (mode == RNN_LSTM) {
            const Vector i = access.get(gates), f = access.get(gates + h), g = access.get(gates + 2 * h);
            const Vector o = access.get(gates + 3 * h), cell = Lanes<Real>::tangent(access.get(gates + 4 * h));
            const Real* before = row < step.kept ? step.cells_before + row * step.gates_row + at : step.cx + place;
            const Vector grad_cell = access.get(step.grad_cell + place) + grad * o * (Real(1) - cell * cell);
            access.put(grads, grad_cell * g * i * (Real(1) - i));
            access.put(grads + h, grad_cell * access.get(before) * f * (Real(1) - f));
            access.put(grads + 2 * h, grad_cell * i * (Real(1) - g * g));
            access.put(grads + 3 * h, grad * cell * o * (Real(1) - o));
            access.put(step.grad_cell + place, grad_cell * f);
            access.put(step.grad_hidden + place, Vector{});
        } else if constexpr (mode == RNN_GRU) {
            const Vector r = access.get(gates), z = access.get(gates + h), state = access.get(gates + 2 * h);
            const Vector n = access.get(gates + 3 * h), before = access.get(step.hidden_before + place);
            const Vector grad_n = grad * (Real(1) - z) * (Real(1) - n * n);
            access.put(grads, grad_n * state * r * (Real(1) - r));
            access.put(grads + h, grad * (before - n) * z * (Real(1) - z));
            access.put(grads + 2 * h, grad_n * r);
            access.put(grads + 3 * h, grad_n);
            access.put(step.grad_hidden + place, grad * z);
        } else {
            const Vector y = access.get(step.out + place);
            if constexpr (mode == RNN_TANH)
                access.put(grads, grad * (Real(1) - y * y));
            else
                access.put(grads, y <= Real(0) ? Vector{} : grad);
            access.put(step.grad_hidden + place, Vector{});
        }
    });
}

template <typename Real>
void pack_columns(Real* to, const Real* from, ptrdiff_t line, ptrdiff_t along, size_t columns, size_t depth) {
    pack<Simd<Real>::NR>(to, from, line, along, columns, depth);
}

template <typename Real>
void pack_rows(Real* to, const Real* from, ptrdiff_t line, size_t rows, size_t depth) {
    pack<MR>(to, from, line, 1, rows, depth);
}

// A stretch of the depth at a time, of which a panel stays in the first cache for all rows.
template <typename Real>
void add_product(Real* out, size_t out_row, const Real* left, const Real* right, size_t rows, size_t columns,
                 size_t depth) {
    constexpr size_t NR = Simd<Real>::NR;
    const Epilogue<Real> epilogue = {Real(1), Real(0), {nullptr, 0, 0}, true};
    const size_t stretch = rows <= MR ? depth : SUM_DEPTH;
    Prefetch none;
    for (size_t column = 0; column < columns; column += NR, right += NR * depth)
        for (size_t k = 0; k < depth; k += stretch)
            for (size_t row = 0; row < rows; row += MR)
                any_tile(out, static_cast<ptrdiff_t>(out_row), left + row * depth + k * MR, right + k * NR, row,
                         least(MR, rows - row), column, least(NR, columns - column), least(stretch, depth - k),
                         epilogue, none);
}

// Sums of short sums are more exact than long ones.
template <typename Real>
void sum_rows(Real* to, const Real* from, size_t row, size_t rows, size_t columns) {
    constexpr size_t TOGETHER = 64, SHORT = 128;
    for (size_t column = 0; column < columns; column += TOGETHER) {
        const size_t width = least(TOGETHER, columns - column);
        Real total[TOGETHER] = {};
        for (size_t first = 0; first < rows; first += SHORT) {
            Real sums[TOGETHER] = {};
            for (size_t at = first; at < rows && at < first + SHORT; at++) {
                const Real* line = from + at * row + column;
                if (width == TOGETHER)
                    for (size_t i = 0; i < TOGETHER; i++) sums[i] += line[i];
                else
                    for (size_t i = 0; i < width; i++) sums[i] += line[i];
            }
            for (size_t i = 0; i < TOGETHER; i++) total[i] += sums[i];
        }
        for (size_t i = 0; i < width; i++) to[column + i] = total[i];
    }
}

template <typename Real>
constexpr RnnLoops<Real> table() {
    return {Simd<Real>::NR,
            MR,
            pack_columns<Real>,
            pack_rows<Real>,
            add_product<Real>,
            {forward<Real, RNN_RELU>, forward<Real, RNN_TANH>, forward<Real, RNN_LSTM>, forward<Real, RNN_GRU>},
            {backward<Real, RNN_RELU>, backward<Real, RNN_TANH>, backward<Real, RNN_LSTM>, backward<Real, RNN_GRU>},
            sum_rows<Real>};
}

}  // namespace

extern const RnnLoops<float> MINDTORCH_LOOPS(rnn_loops) = table<float>();
extern const RnnLoops<double> MINDTORCH_LOOPS(rnn_double_loops) = table<double>();

}  // namespace mindtorch
