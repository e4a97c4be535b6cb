// Discrete Fourier transforms of lines whose extents have no factors but 2, 3 and 5; others are numpy's.
#include "kernels/fft.h"

#include "kernels/integer.h"
#include "kernels/order.h"
#include "kernels/region.h"
#include "memory/scratch.h"
#include "parallel.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <type_traits>
#include <vector>

namespace mindtorch {

namespace {

// Longer lines are numpy's: vectors of several of them would not stay in the cache, nor would one dense line.
constexpr size_t MOST_COUNT = 4096, MOST_DENSE = 1 << 17;
// A few lines are not worth the lanes of the others.
constexpr size_t FEW_LINES = 2;
// Dense lines up to this extent are transformed together, where there are as many as a vector has lanes.
constexpr size_t MOST_SHORT = 32;

template <typename Real>
struct OwnedPlan {
    FftPlan<Real> plan;
    std::vector<Real> twiddles, first, halves;

    // exp(-2 pi i part / whole), to what is exact in the next wider type.
    struct Factor {
        Real re, im;
        Factor(size_t part, size_t whole) {
            using Wide = std::conditional_t<sizeof(Real) == sizeof(float), double, long double>;
            const Wide angle =
                Wide(-6.283185307179586476925286766559L) * static_cast<Wide>(part % whole) / static_cast<Wide>(whole);
            re = static_cast<Real>(std::cos(angle));
            im = static_cast<Real>(std::sin(angle));
        }
    };

    explicit OwnedPlan(size_t count) {
        plan = {count, 0, {}, nullptr, nullptr, nullptr};
        size_t rest = count, done = 1;
        for (; rest > 1; done *= plan.pass[plan.passes++].radix) {
            const size_t radix = radix_of(rest, done);
            rest /= radix;
            plan.pass[plan.passes] = {radix, done, rest, twiddles.size()};
            for (size_t p = 0; p < rest; p++)
                for (size_t k = 1; k < radix; k++) {
                    const Factor factor(p * k, radix * rest);
                    twiddles.push_back(factor.re);
                    twiddles.push_back(factor.im);
                }
        }
        if (count % 8 == 0) turn_first(count / 8);
        halves.resize(2 * (count + 1));
        for (size_t k = 0; k <= count; k++) {
            const Factor factor(k, 2 * count);
            halves[k] = factor.re;
            halves[count + 1 + k] = factor.im;
        }
        plan.twiddles = twiddles.data();
        plan.first = first.data();
        plan.halves = halves.data();
    }

private:
    // Eight where that leaves no single two behind: two fours are less work than eight and two.
    static size_t radix_of(size_t rest, size_t done) {
        if (rest % 8 == 0 && (done == 1 || rest % 16 != 0 || rest % 64 == 0)) return 8;
        for (size_t radix : {4, 2, 3})
            if (rest % radix == 0) return radix;
        return 5;
    }
    // The first pass's factors of `rest` butterflies, those of one element side by side.
    void turn_first(size_t rest) {
        first.resize(14 * rest);
        for (size_t p = 0; p < rest; p++)
            for (size_t k = 0; k < 7; k++) {
                first[2 * k * rest + p] = twiddles[14 * p + 2 * k];
                first[(2 * k + 1) * rest + p] = twiddles[14 * p + 2 * k + 1];
            }
    }
};

bool is_smooth(size_t count) {
    for (size_t radix : {2, 3, 5})
        while (count > 0 && count % radix == 0) count /= radix;
    return count == 1;
}

// The plan for an extent, made once; the kept ones are few.
template <typename Real>
std::shared_ptr<const OwnedPlan<Real>> plan_of(size_t count) {
    constexpr size_t MOST_KEPT = 64;
    static std::mutex lock;
    static std::map<size_t, std::shared_ptr<const OwnedPlan<Real>>> kept;
    const std::lock_guard<std::mutex> held(lock);
    auto& found = kept[count];
    if (!found) {
        auto made = std::make_shared<const OwnedPlan<Real>>(count);
        if (kept.size() > MOST_KEPT) kept.clear();
        return kept[count] = made;
    }
    return found;
}

inline const FftLoops<float>& loops_of(float) { return fft_loops(); }
inline const FftLoops<double>& loops_of(double) { return fft_double_loops(); }

// Where the lines of an array along one dimension begin, in the order of the others.
class LineStarts {
public:
    LineStarts(PyArrayObject* array, int axis, size_t first) : place_(start_of(array, first, axis)) {
        for (int dim = PyArray_NDIM(array) - 1; dim >= 0; dim--) {
            if (dim == axis || PyArray_DIM(array, dim) == 1) continue;
            const auto extent = static_cast<size_t>(PyArray_DIM(array, dim));
            at_[ndim_] = first % extent;
            first /= extent;
            extents_[ndim_] = extent;
            steps_[ndim_++] = PyArray_STRIDE(array, dim);
        }
    }

    char* next() {
        char* now = place_;
        for (int dim = 0; dim < ndim_; dim++) {
            place_ += steps_[dim];
            if (++at_[dim] < extents_[dim]) break;
            place_ -= steps_[dim] * static_cast<npy_intp>(extents_[dim]);
            at_[dim] = 0;
        }
        return now;
    }

private:
    char* place_;
    int ndim_ = 0;
    size_t at_[MOST_DIMENSIONS], extents_[MOST_DIMENSIONS];
    npy_intp steps_[MOST_DIMENSIONS];
};

// Lines whose elements lie side by side before and after, of an extent that the first pass of radix 8 can begin with.
template <typename Real>
bool is_dense(const FftLines<Real>& lines, size_t count) {
    const ptrdiff_t real = sizeof(Real), pair = 2 * real;
    const bool from_reals = lines.kind == FFT_TO_COMPLEX || lines.kind == FFT_TO_ALL;
    return count % 8 == 0 && lines.from_step == (from_reals ? real : pair) &&
           lines.to_step == (lines.kind == FFT_TO_REAL ? real : pair);
}

// Transform the lines of `in` along `axis` to those of `out`, which may be the same array; 1, or -1 and a MemoryError.
template <typename Real>
int transform(PyArrayObject* out, PyArrayObject* in, int axis, FftLines<Real> lines, size_t count) {
    const FftLoops<Real>& loops = loops_of(Real{});
    const auto plan = plan_of<Real>(count);
    lines.plan = &plan->plan;
    lines.from_step = PyArray_STRIDE(in, axis);
    lines.to_step = PyArray_STRIDE(out, axis);
    const size_t total = static_cast<size_t>(PyArray_SIZE(in) / PyArray_DIM(in, axis)), lanes = loops.lanes;
    const bool dense = is_dense(lines, count);
    const size_t groups = (total + lanes - 1) / lanes;
    const size_t room = 4 * std::max((2 * count + 1) * lanes, count + 16) * sizeof(Real);
    const size_t cost = 16 * count * std::min(total, lanes);
    std::atomic<bool> failed{false};
    parallel(groups, std::max<size_t>(1, 8 * GRAIN / cost), [&](size_t first, size_t last) {
        auto* memory = static_cast<Real*>(scratch(room));
        if (memory == nullptr) {
            failed = true;
            return;
        }
        LineStarts sources(in, axis, first * lanes), targets(out, axis, first * lanes);
        for (size_t group = first; group < last; group++) {
            const char* from[MOST_FFT_LANES];
            char* to[MOST_FFT_LANES];
            const size_t many = std::min(lanes, total - group * lanes);
            for (size_t lane = 0; lane < many; lane++) {
                from[lane] = sources.next();
                to[lane] = targets.next();
            }
            if (dense && (count > MOST_SHORT || many < lanes))
                for (size_t lane = 0; lane < many; lane++) loops.dense(lines, from[lane], to[lane], memory);
            else if (many >= FEW_LINES)
                loops.wide(lines, from, to, many, memory);
            else
                for (size_t lane = 0; lane < many; lane++) loops.single(lines, from[lane], to[lane], memory);
        }
    });
    return failed ? no_memory(room) : 1;
}

// How the results are scaled: by nothing, by the root of the number of points, by their number.
template <typename Real>
Real scale_of(long normalization, double points) {
    return static_cast<Real>(normalization == 0 ? 1 : normalization == 1 ? 1 / std::sqrt(points) : 1 / points);
}

// What a call names: arrays without common memory, and dimensions.
struct Transform {
    PyArrayObject *out, *in;
    int dims[MOST_DIMENSIONS], count = 0;
    long normalization;
    double points = 1;
    bool single;  // precision

    bool take(PyObject* given, PyObject* const* values) {
        out = plain_array(given, true);
        in = plain_array(values[0]);
        normalization = integer_of(values[2]);
        if (out == nullptr || in == nullptr || !PyTuple_CheckExact(values[1]) || normalization < 0 ||
            normalization > 2 || PyArray_SIZE(in) == 0 || PyArray_SIZE(out) == 0 || may_overlap(out, in))
            return false;
        for (Py_ssize_t at = 0; at < PyTuple_GET_SIZE(values[1]); at++) {
            const long dim = integer_of(PyTuple_GET_ITEM(values[1], at));
            if (dim < 0 || dim >= PyArray_NDIM(in) || count == MOST_DIMENSIONS) return false;
            dims[count++] = static_cast<int>(dim);
        }
        const int type = PyArray_TYPE(in);
        single = type == NPY_FLOAT || type == NPY_CFLOAT;
        return count > 0;
    }

    bool are(int from, int to) const {
        return PyArray_TYPE(in) == (single ? from : from + 1) && PyArray_TYPE(out) == (single ? to : to + 1);
    }

    // The longest lines along a dimension that are ours.
    size_t most_of(int dim, size_t extent) const {
        const bool dense = extent % 16 == 0 && PyArray_STRIDE(in, dim) == PyArray_ITEMSIZE(in) &&
                           PyArray_STRIDE(out, dim) == PyArray_ITEMSIZE(out);
        return dense ? MOST_DENSE : MOST_COUNT;
    }

    // The extents along the dimensions, of which the last may be another.
    bool fits(size_t last) {
        for (int at = 0; at < count; at++) {
            const size_t extent = at == count - 1 && last != 0 ? last : static_cast<size_t>(PyArray_DIM(in, dims[at]));
            points *= static_cast<double>(extent);
            if (!is_smooth(extent) || extent > most_of(dims[at], extent)) return false;
        }
        return true;
    }

    // Complex numbers to reals along the last dimension, after what is done along the others in memory of its own.
    template <typename Real>
    int run_to_reals(size_t line) const {
        Ref copied;
        PyArrayObject* from = in;
        for (int at = count - 2; at >= 0; at--) {
            if (from == in) {
                copied.reset(PyArray_NewLikeArray(in, NPY_KEEPORDER, nullptr, 0));
                if (!copied) return -1;
            }
            auto* to = reinterpret_cast<PyArrayObject*>(copied.get());
            const int done = transform<Real>(to, from, dims[at], {nullptr, FFT_COMPLEX, true, Real(1), 0, 0},
                                             static_cast<size_t>(PyArray_DIM(in, dims[at])));
            if (done != 1) return done;
            from = to;
        }
        const Real scale = scale_of<Real>(normalization, points);
        return transform<Real>(out, from, dims[count - 1], {nullptr, FFT_TO_REAL, true, scale, 0, 0}, line);
    }

    // Along the last dimension by `kind`, then along the others in the output's place.
    template <typename Real>
    int run(FftKind kind, size_t line, bool forward) const {
        const Real scale = scale_of<Real>(normalization, points);
        for (int at = count - 1; at >= 0; at--) {
            const bool last = at == count - 1;
            const int done =
                transform<Real>(out, last ? in : out, dims[at],
                                {nullptr, last ? kind : FFT_COMPLEX, !forward, last ? scale : Real(1), 0, 0},
                                last ? line : static_cast<size_t>(PyArray_DIM(out, dims[at])));
            if (done != 1) return done;
        }
        return 1;
    }
    int run(FftKind kind, size_t line, bool forward) const {
        return single ? run<float>(kind, line, forward) : run<double>(kind, line, forward);
    }
};

static_assert(NPY_DOUBLE == NPY_FLOAT + 1 && NPY_CDOUBLE == NPY_CFLOAT + 1, "double follows float");

// Values are (self, dims, normalization, forward).
int fft_c2c(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    Transform t;
    if (count != 4 || !t.take(given, values) || !t.are(NPY_CFLOAT, NPY_CFLOAT) || !t.fits(0)) return 0;
    return t.run(FFT_COMPLEX, static_cast<size_t>(PyArray_DIM(t.in, t.dims[t.count - 1])), values[3] == Py_True);
}

// Values are (self, dims, normalization, onesided).
int fft_r2c(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    Transform t;
    if (count != 4 || !t.take(given, values) || !t.are(NPY_FLOAT, NPY_CFLOAT)) return 0;
    const bool onesided = values[3] == Py_True;
    const npy_intp extent = PyArray_DIM(t.in, t.dims[t.count - 1]);
    if (extent % 2 != 0 || !t.fits(0) || (!onesided && t.count > 1)) return 0;
    return t.run(onesided ? FFT_TO_COMPLEX : FFT_TO_ALL, static_cast<size_t>(extent) / 2, true);
}

// Values are (self, dims, normalization, last extent).
int fft_c2r(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    Transform t;
    if (count != 4 || !t.take(given, values) || !t.are(NPY_CFLOAT, NPY_FLOAT)) return 0;
    const long extent = integer_of(values[3]);
    if (extent < 2 || extent % 2 != 0 || PyArray_DIM(t.in, t.dims[t.count - 1]) != extent / 2 + 1 ||
        !t.fits(static_cast<size_t>(extent)))
        return 0;
    const auto line = static_cast<size_t>(extent) / 2;
    return t.single ? t.run_to_reals<float>(line) : t.run_to_reals<double>(line);
}

}  // namespace

const NamedKernel fft_kernels[] = {
    {"_fft_c2c", fft_c2c},
    {"_fft_r2c", fft_r2c},
    {"_fft_c2r", fft_c2r},
    {nullptr, nullptr},
};

}  // namespace mindtorch
