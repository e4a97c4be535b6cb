// Random fills: the generator's Twister is numpy's, so that Python and these kernels draw from one stream.
#include "random/distributions.h"

#include "random/generator.h"
#include "kernels/integer.h"
#include "kernels/operand.h"

#include <float.h>
#include <math.h>

namespace mindtorch {

namespace {

// True when the elements fill their memory without gaps, in whatever order of dimensions: fills follow memory.
bool is_dense(PyArrayObject* array) {
    if (PyArray_IS_C_CONTIGUOUS(array)) return true;
    npy_intp extents[MOST_DIMENSIONS], steps[MOST_DIMENSIONS];
    int ndim = 0;
    for (int dim = 0; dim < PyArray_NDIM(array); dim++) {
        const npy_intp extent = PyArray_DIM(array, dim), step = PyArray_STRIDE(array, dim);
        if (extent == 1) continue;
        int place = ndim++;
        for (; place > 0 && steps[place - 1] > step; place--) {
            extents[place] = extents[place - 1];
            steps[place] = steps[place - 1];
        }
        extents[place] = extent;
        steps[place] = step;
    }
    npy_intp expected = PyArray_ITEMSIZE(array);
    for (int place = 0; place < ndim; place++) {
        if (steps[place] != expected) return false;
        expected *= extents[place];
    }
    return true;
}

PyArrayObject* target(PyObject* given) {
    if (!PyArray_CheckExact(given)) return nullptr;
    auto* array = reinterpret_cast<PyArrayObject*>(given);
    return PyArray_ISBEHAVED(array) && is_dense(array) ? array : nullptr;
}

// -1 for what no loop fills.
int element_of(PyArrayObject* array) {
    switch (PyArray_TYPE(array)) {
        case NPY_FLOAT: return FLOAT_ELEMENT;
        case NPY_DOUBLE: return DOUBLE_ELEMENT;
        case NPY_BOOL:
        case NPY_UINT8: return BYTE_ELEMENT;
        case NPY_INT32: return INT_ELEMENT;
        case NPY_INT64: return LONG_ELEMENT;
        default: return -1;
    }
}

size_t size_of(PyArrayObject* array) { return static_cast<size_t>(PyArray_SIZE(array)); }

int fill_uniform(PyObject* given, PyObject* generator, double low, double high) {
    PyArrayObject* out = target(given);
    const int element = out == nullptr ? -1 : element_of(out);
    if (element != FLOAT_ELEMENT && element != DOUBLE_ELEMENT) return 0;
    Draw source(generator);
    if (source.taken != 1) return source.taken;
    const size_t count = size_of(out);
    void* data = PyArray_DATA(out);
    const Interval within = {low, high, rounding().fused};
    return source.draw(count, [&](Twister& from) {
        if (element == FLOAT_ELEMENT) {
            random_loops().uniform_float(from, static_cast<float*>(data), count, within);
        } else {
            random_loops().uniform_double(from, static_cast<double*>(data), count, within);
        }
    });
}

double unit(Twister& from) {
    double value;
    random_loops().uniform_double(from, &value, 1, {0.0, 1.0, false});
    return value;
}

double scaled(double normal, double mean, double std) {
    return rounding().fused ? fma(normal, std, mean) : normal * std + mean;
}

constexpr double TWO_PI = 6.283185307179586;

// Normals in pairs, whose second half may wait in the engine.
template <typename Out>
int fill_pairs(Draw& source, Out* out, size_t count, double mean, double std) {
    double spare = 0.0;
    bool there;
    if (!source.take_spare(spare, there)) return -1;
    size_t at = 0;
    if (there) out[at++] = static_cast<Out>(scaled(spare, mean, std));
    bool left = false;
    const int done = source.draw(count - at, [&](Twister& from) {
        while (at < count) {
            const double first = unit(from), second = unit(from);
            const double radius = sqrt(-2.0 * log1p(-second)), angle = TWO_PI * first;
            out[at++] = static_cast<Out>(scaled(radius * cos(angle), mean, std));
            spare = radius * sin(angle);
            left = at == count;
            if (!left) out[at++] = static_cast<Out>(scaled(spare, mean, std));
        }
    });
    return done == 1 && left && !source.leave_spare(spare) ? -1 : done;
}

void double_blocks(double* values, size_t count, double mean, double std) {
    for (size_t start = 0; start < count; start += 16)
        for (size_t i = start; i < start + 8; i++) {
            const double radius = sqrt(-2.0 * log(1.0 - values[i])), angle = TWO_PI * values[i + 8];
            values[i] = scaled(radius * cos(angle), mean, std);
            values[i + 8] = scaled(radius * sin(angle), mean, std);
        }
}

void fill_double_blocks(Twister& from, double* out, size_t count, double mean, double std) {
    const size_t whole = count - count % 16;
    random_loops().uniform_double(from, out, count, {0.0, 1.0, false});
    double_blocks(out, whole, mean, std);
    if (whole == count) return;
    random_loops().uniform_double(from, out + count - 16, 16, {0.0, 1.0, false});
    double_blocks(out + count - 16, 16, mean, std);
}

int fill_normal(PyObject* given, PyObject* generator, double mean, double std) {
    PyArrayObject* out = target(given);
    const int element = out == nullptr ? -1 : element_of(out);
    if (element != FLOAT_ELEMENT && element != DOUBLE_ELEMENT) return 0;
    const size_t count = size_of(out);
    const bool single = element == FLOAT_ELEMENT, pairs = count < 16 || !PyArray_IS_C_CONTIGUOUS(out);
    if (single && !pairs && !rounding().vector_normal) return 0;
    Draw source(generator);
    if (source.taken != 1 || count == 0) return source.taken;
    auto* floats = static_cast<float*>(PyArray_DATA(out));
    auto* doubles = static_cast<double*>(PyArray_DATA(out));
    if (pairs)
        return single ? fill_pairs(source, floats, count, mean, std) : fill_pairs(source, doubles, count, mean, std);
    return source.draw(count, [&](Twister& from) {
        if (single) {
            random_loops().normal(from, floats, count, static_cast<float>(mean), static_cast<float>(std));
        } else {
            fill_double_blocks(from, doubles, count, mean, std);
        }
    });
}

// Values are (self, from, to, generator).
int uniform_(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    double low, high;
    if (count != 4 || !double_of(values[1], low) || !double_of(values[2], high)) return 0;
    return fill_uniform(out, values[3], low, high);
}

// Values are (self, mean, std, generator).
int normal_(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    double mean, std;
    if (count != 4 || !double_of(values[1], mean) || !double_of(values[2], std)) return 0;
    return fill_normal(out, values[3], mean, std);
}

// Values are (mean, std, size, generator, options).
int normal_sized(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    double mean, std;
    if (count < 4 || !double_of(values[0], mean) || !double_of(values[1], std)) return 0;
    return fill_normal(out, values[3], mean, std);
}

// Factories: the generator is value `place`; below zero there is none.
template <int place>
int rand(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    return place < count ? fill_uniform(out, place < 0 ? Py_None : values[place < 0 ? 0 : place], 0.0, 1.0) : 0;
}

template <int place>
int randn(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    return place < count ? fill_normal(out, place < 0 ? Py_None : values[place < 0 ? 0 : place], 0.0, 1.0) : 0;
}

// Values are (self, p, generator): ones with probability p.
int bernoulli(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    PyArrayObject* out = target(given);
    const int element = out == nullptr ? -1 : element_of(out);
    double probability;
    if (count != 3 || element < 0 || !double_of(values[1], probability) || !(probability >= 0 && probability <= 1))
        return 0;
    Draw source(values[2]);
    if (source.taken != 1) return source.taken;
    const size_t size = size_of(out);
    const auto threshold = static_cast<int64_t>(ceil(ldexp(probability, 53)));
    void* data = PyArray_DATA(out);
    return source.draw(size, [&](Twister& from) { random_loops().below[element](from, data, size, threshold); });
}

// float32 probabilities for each element of a contiguous output.
int bernoulli_each(PyObject* given, PyObject* value, PyObject* generator) {
    float* out =
        output_floats(given, PyArray_CheckExact(given) ? PyArray_SIZE(reinterpret_cast<PyArrayObject*>(given)) : 0);
    if (out == nullptr) return 0;
    const size_t size = size_of(reinterpret_cast<PyArrayObject*>(given));
    const float* chances = floats(value, static_cast<npy_intp>(size), reinterpret_cast<PyArrayObject*>(given));
    if (chances == nullptr) return 0;
    size_t outside = 0;
    for (size_t i = 0; i < size; i++) outside += !(chances[i] >= 0.0f && chances[i] <= 1.0f);
    if (outside > 0) return 0;
    Draw source(generator);
    if (source.taken != 1) return source.taken;
    return source.draw(size, [&](Twister& from) { random_loops().below_each(from, out, chances, size); });
}

// Values are (self, p, generator).
int bernoulli_tensor(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    return count == 3 ? bernoulli_each(out, values[1], values[2]) : 0;
}

// Values are (self, generator), self the probabilities.
int bernoulli_own(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    return count == 2 ? bernoulli_each(out, values[0], values[1]) : 0;
}

int fill_integers(PyObject* given, PyObject* generator, uint64_t base, uint64_t span) {
    PyArrayObject* out = target(given);
    const int element = out == nullptr ? -1 : element_of(out);
    if (element < 0 || PyArray_TYPE(out) == NPY_BOOL) return 0;
    Draw source(generator);
    if (source.taken != 1) return source.taken;
    const size_t size = size_of(out);
    void* data = PyArray_DATA(out);
    return source.draw(size, [&](Twister& from) { random_loops().integers[element](from, data, size, base, span); });
}

// A first number and how many, as the meta rules give them: (int, int).
bool bounds(PyObject* value, uint64_t& base, uint64_t& span) {
    if (!PyTuple_CheckExact(value) || PyTuple_GET_SIZE(value) != 2) return false;
    PyObject *first = PyTuple_GET_ITEM(value, 0), *many = PyTuple_GET_ITEM(value, 1);
    if (!PyLong_CheckExact(first) || !PyLong_CheckExact(many)) return false;
    base = PyLong_AsUnsignedLongLongMask(first);
    span = PyLong_AsUnsignedLongLong(many);
    if (!PyErr_Occurred()) return span > 0;
    PyErr_Clear();
    return false;
}

// The bounds are value `where`, the generator value `place`.
template <int where, int place>
int randint(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    uint64_t base, span;
    if (count <= where || count <= place || !bounds(values[where], base, span)) return 0;
    return fill_integers(out, place < 0 ? Py_None : values[place < 0 ? 0 : place], base, span);
}

// Values are (self, generator): all that a long holds and is not negative.
int random_(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    if (count != 2 || !PyArray_CheckExact(given) || PyArray_TYPE(reinterpret_cast<PyArrayObject*>(given)) != NPY_INT64)
        return 0;
    return fill_integers(given, values[1], 0, uint64_t{1} << 63);
}

template <int place>
int randperm(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    PyArrayObject* out = target(given);
    if (count <= place || out == nullptr || PyArray_TYPE(out) != NPY_INT64) return 0;
    const size_t size = size_of(out);
    if (size >= (size_t{1} << 32) / 20) return 0;
    Draw source(place < 0 ? Py_None : values[place < 0 ? 0 : place]);
    if (source.taken != 1) return source.taken;
    auto* data = static_cast<int64_t*>(PyArray_DATA(out));
    if (size == 1) data[0] = 0;  // which draws nothing
    return source.draw(size > 1 ? size : 0, [&](Twister& from) { random_loops().permutation(from, data, size); });
}

// Values are (self, lambda, generator).
int exponential_(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    PyArrayObject* out = target(given);
    const int element = out == nullptr ? -1 : element_of(out);
    double rate;
    if (count != 3 || (element != FLOAT_ELEMENT && element != DOUBLE_ELEMENT) || !double_of(values[1], rate) ||
        rate == 0.0)
        return 0;
    Draw source(values[2]);
    if (source.taken != 1) return source.taken;
    const size_t size = size_of(out);
    const double scale = -1.0 / rate;
    auto* floats = static_cast<float*>(PyArray_DATA(out));
    auto* doubles = static_cast<double*>(PyArray_DATA(out));
    return source.draw(size, [&](Twister& from) {
        double units[256];
        for (size_t start = 0; start < size; start += 256) {
            const size_t part = size - start < 256 ? size - start : 256;
            random_loops().uniform_double(from, units, part, {0.0, 1.0, false});
            for (size_t i = 0; i < part; i++) {
                const double value = scale * log1p(-units[i]);
                if (element == FLOAT_ELEMENT) {
                    floats[start + i] = static_cast<float>(value);
                } else {
                    doubles[start + i] = value;
                }
            }
        }
    });
}

// The fastest of exponential clocks that run as fast as the weights; the first of equals.
int64_t first_arrival(Twister& from, const float* weights, size_t count) {
    double units[256];
    size_t best = 0;
    float most = -1.0f;
    for (size_t start = 0; start < count; start += 256) {
        const size_t part = count - start < 256 ? count - start : 256;
        random_loops().uniform_double(from, units, part, {0.0, 1.0, false});
        for (size_t i = 0; i < part; i++) {
            const float speed = weights[start + i] / static_cast<float>(-log1p(-units[i]));
            if (!(speed <= most) && !isnan(most)) {
                best = start + i;
                most = speed;
            }
        }
    }
    return static_cast<int64_t>(best);
}

// Values are (self, num_samples, replacement, generator): one category of each row of float32 weights.
int multinomial(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    PyArrayObject* out = target(given);
    if (count != 4 || out == nullptr || PyArray_TYPE(out) != NPY_INT64 || !PyLong_CheckExact(values[1]) ||
        PyLong_AsLong(values[1]) != 1 || !PyArray_CheckExact(values[0]) || PyArray_SIZE(out) == 0)
        return 0;
    const npy_intp size = PyArray_SIZE(reinterpret_cast<PyArrayObject*>(values[0]));
    const float* weights = floats(values[0], size, out);
    const size_t rows = size_of(out), width = static_cast<size_t>(size) / rows;
    if (weights == nullptr || size == 0) return 0;
    for (size_t row = 0; row < rows; row++) {
        double total = 0.0, worst = 0.0;  // an infinity or not-a-number shows in the total
        for (size_t i = row * width; i < (row + 1) * width; i++) {
            total += weights[i];
            worst = weights[i] < worst ? weights[i] : worst;
        }
        if (!(total > 0.0 && total < FLT_MAX && worst >= 0.0)) return 0;
    }
    Draw source(values[3]);
    if (source.taken != 1) return source.taken;
    auto* to = static_cast<int64_t*>(PyArray_DATA(out));
    return source.draw(static_cast<size_t>(size), [&](Twister& from) {
        for (size_t row = 0; row < rows; row++) to[row] = first_arrival(from, weights + row * width, width);
    });
}

}  // namespace

const NamedKernel random_kernels[] = {
    {"uniform_", uniform_},
    {"normal_", normal_},
    {"normal.float_float", normal_sized},
    {"rand rand_like", rand<-1>},
    {"rand.generator rand_like.generator", rand<1>},
    {"randn randn_like", randn<-1>},
    {"randn.generator randn_like.generator", randn<1>},
    {"bernoulli_.float bernoulli.p", bernoulli},
    {"bernoulli_.Tensor bernoulli.Tensor", bernoulli_tensor},
    {"bernoulli", bernoulli_own},
    {"randint randint.low", randint<0, -1>},
    {"randint.generator", randint<0, 2>},
    {"randint.low_generator", randint<0, 3>},
    {"randint_like randint_like.low_dtype", randint<1, -1>},
    {"random_.to randint_like.generator", randint<1, 2>},
    {"random_", random_},
    {"randperm", randperm<-1>},
    {"randperm.generator", randperm<1>},
    {"exponential_", exponential_},
    {"multinomial", multinomial},
    {nullptr, nullptr},
};

}  // namespace mindtorch
