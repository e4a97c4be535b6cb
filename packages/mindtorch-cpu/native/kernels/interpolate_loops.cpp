// Weighted sums of elements of lines.
#include "kernels/interpolate.h"

#include <string.h>

#include "kernels/grid_points.h"

namespace mindtorch {

namespace {

constexpr size_t TOGETHER = 4;  // lines whose places and weights are read once

// Places of ROWS lines, each made of ELEMENTS elements, or of as many as `begins` says where ELEMENTS is 0.
template <size_t ROWS, size_t ELEMENTS, bool WEIGHTED, typename Real>
void gather_lines(const WeightTable<Real>& table, Real* out, const Real* in) {
    for (ptrdiff_t i = 0; i < table.count; i++) {
        const int64_t begin = ELEMENTS > 0 ? i * static_cast<int64_t>(ELEMENTS) : table.begins[i];
        const int64_t end = ELEMENTS > 0 ? begin + static_cast<int64_t>(ELEMENTS) : table.begins[i + 1];
        Real sums[ROWS] = {};
        for (int64_t element = begin; element < end; element++) {
            const Real weight = WEIGHTED ? table.weights[element] : Real(1);
            const Real* from = in + table.index[element];
            for (size_t row = 0; row < ROWS; row++) {
                const Real value = from[static_cast<ptrdiff_t>(row) * table.extent] * weight;
                sums[row] = element == begin ? value : sums[row] + value;
            }
        }
        for (size_t row = 0; row < ROWS; row++) out[static_cast<ptrdiff_t>(row) * table.count + i] = sums[row];
    }
}

template <size_t ELEMENTS, bool WEIGHTED, typename Real>
void gather_all(const WeightTable<Real>& table, Real* out, const Real* in, size_t count) {
    for (; count >= TOGETHER; count -= TOGETHER) {
        gather_lines<TOGETHER, ELEMENTS, WEIGHTED>(table, out, in);
        out += static_cast<ptrdiff_t>(TOGETHER) * table.count;
        in += static_cast<ptrdiff_t>(TOGETHER) * table.extent;
    }
    for (; count > 0; count--, out += table.count, in += table.extent)
        gather_lines<1, ELEMENTS, WEIGHTED>(table, out, in);
}

// How many elements every place is made of, 0 where that differs.
template <typename Real>
int64_t common(const WeightTable<Real>& table) {
    const int64_t each = table.count > 0 ? table.begins[1] - table.begins[0] : 0;
    for (ptrdiff_t i = 1; i < table.count; i++)
        if (table.begins[i + 1] - table.begins[i] != each) return 0;
    return each;
}

template <typename Real>
void gather_dense(const WeightTable<Real>& table, Real* out, const Real* in, size_t count) {
    const int64_t each = common(table);
    if (table.weights == nullptr)
        each == 1 ? gather_all<1, false>(table, out, in, count) : gather_all<0, false>(table, out, in, count);
    else if (each == 2)
        gather_all<2, true>(table, out, in, count);
    else if (each == 4)
        gather_all<4, true>(table, out, in, count);
    else
        gather_all<0, true>(table, out, in, count);
}

// One place of `inner` elements; the loops over elements are plain and dense.
template <typename Real>
void gather_place(Real* __restrict out, const WeightTable<Real>& table, const Real* in, ptrdiff_t inner, int64_t begin,
                  int64_t end) {
    const auto at = [&](int64_t element) { return in + table.index[element] * inner; };
    const auto weight = [&](int64_t element) { return table.weights == nullptr ? Real(1) : table.weights[element]; };
    if (begin == end) {
        for (ptrdiff_t j = 0; j < inner; j++) out[j] = Real(0);
    } else if (end - begin == 1 && table.weights == nullptr) {
        memcpy(out, at(begin), static_cast<size_t>(inner) * sizeof(Real));
    } else if (end - begin == 1) {
        const Real *x = at(begin), a = weight(begin);
        for (ptrdiff_t j = 0; j < inner; j++) out[j] = x[j] * a;
    } else {
        const Real *x = at(begin), *y = at(begin + 1), a = weight(begin), b = weight(begin + 1);
        for (ptrdiff_t j = 0; j < inner; j++) out[j] = x[j] * a + y[j] * b;
    }
    int64_t element = begin + 2;
    for (; element + 1 < end; element += 2) {
        const Real *x = at(element), *y = at(element + 1), a = weight(element), b = weight(element + 1);
        for (ptrdiff_t j = 0; j < inner; j++) out[j] = (out[j] + x[j] * a) + y[j] * b;
    }
    if (element < end) {
        const Real *x = at(element), a = weight(element);
        for (ptrdiff_t j = 0; j < inner; j++) out[j] += x[j] * a;
    }
}

template <typename Real>
void gather(const WeightTable<Real>& table, Real* out, const Real* in, ptrdiff_t inner, size_t from, size_t to) {
    out += static_cast<ptrdiff_t>(from) * table.count * inner;
    in += static_cast<ptrdiff_t>(from) * table.extent * inner;
    if (inner == 1) return gather_dense(table, out, in, to - from);
    for (size_t line = from; line < to; line++, in += table.extent * inner)
        for (ptrdiff_t i = 0; i < table.count; i++, out += inner)
            gather_place(out, table, in, inner, table.begins[i], table.begins[i + 1]);
}

template <size_t ROWS, typename Real>
void spread_lines(const WeightTable<Real>& table, Real* out, const Real* in) {
    memset(out, 0, ROWS * static_cast<size_t>(table.extent) * sizeof(Real));
    for (ptrdiff_t i = 0; i < table.count; i++)
        for (int64_t element = table.begins[i]; element < table.begins[i + 1]; element++) {
            const Real weight = table.weights == nullptr ? Real(1) : table.weights[element];
            Real* to = out + table.index[element];
            for (size_t row = 0; row < ROWS; row++)
                to[static_cast<ptrdiff_t>(row) * table.extent] +=
                    in[static_cast<ptrdiff_t>(row) * table.count + i] * weight;
        }
}

template <typename Real>
void scatter(const WeightTable<Real>& table, Real* out, const Real* in, size_t from, size_t to) {
    out += static_cast<ptrdiff_t>(from) * table.extent;
    in += static_cast<ptrdiff_t>(from) * table.count;
    for (; from + TOGETHER <= to; from += TOGETHER) {
        spread_lines<TOGETHER>(table, out, in);
        out += static_cast<ptrdiff_t>(TOGETHER) * table.extent;
        in += static_cast<ptrdiff_t>(TOGETHER) * table.count;
    }
    for (; from < to; from++, out += table.extent, in += table.count) spread_lines<1>(table, out, in);
}

template <size_t ROWS, typename Real>
void add_products(const WeightTable<Real>& table, Real* out, const Real* places, const Real* in) {
    for (ptrdiff_t i = 0; i < table.count; i++) {
        Real values[ROWS];
        for (size_t row = 0; row < ROWS; row++) values[row] = places[static_cast<ptrdiff_t>(row) * table.count + i];
        for (int64_t element = table.begins[i]; element < table.begins[i + 1]; element++) {
            const Real* from = in + table.index[element];
            Real sum = out[element];
            for (size_t row = 0; row < ROWS; row++)
                sum += values[row] * from[static_cast<ptrdiff_t>(row) * table.extent];
            out[element] = sum;
        }
    }
}

template <typename Real>
void weight_grads(const WeightTable<Real>& table, Real* out, const Real* places, const Real* in, size_t outer) {
    memset(out, 0, static_cast<size_t>(table.begins[table.count]) * sizeof(Real));
    for (; outer >= TOGETHER; outer -= TOGETHER) {
        add_products<TOGETHER>(table, out, places, in);
        places += static_cast<ptrdiff_t>(TOGETHER) * table.count;
        in += static_cast<ptrdiff_t>(TOGETHER) * table.extent;
    }
    for (; outer > 0; outer--, places += table.count, in += table.extent) add_products<1>(table, out, places, in);
}

void points_of(const Points& p, const PointWeights& table) {
    int64_t element = 0;
    for (size_t i = 0; i < p.count; i++) {
        table.begins[i] = element;
        const Place x = place_of(p.grid[2 * i], p.width, p), y = place_of(p.grid[2 * i + 1], p.height, p);
        parts_of(p, y, x, [&](int, const Part& part) {
            table.index[element] = part.at;
            if (p.mode != NEAREST) table.weights[element] = part.weight;
            if (p.mode != NEAREST && table.down != nullptr)
                table.down[element] = part.down, table.across[element] = part.across;
            element++;
        });
    }
    table.begins[p.count] = element;
}

}  // namespace

extern const PointLoop MINDTORCH_LOOPS(point_loop) = points_of;
extern const InterpolateLoops<float> MINDTORCH_LOOPS(interpolate_loops) = {gather<float>, scatter<float>,
                                                                           weight_grads<float>};
extern const InterpolateLoops<double> MINDTORCH_LOOPS(interpolate_double_loops) = {gather<double>, scatter<double>,
                                                                                   weight_grads<double>};

}  // namespace mindtorch
