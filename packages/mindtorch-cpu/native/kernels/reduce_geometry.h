// What is reduced of an array and where the results go, as dimensions in the order of memory; and the ways through
// them.
#pragma once

#include "kernels/elementwise.h"
#include "parallel.h"
#include "kernels/reduce.h"

namespace mindtorch {

struct Dimension {
    size_t extent;
    ptrdiff_t in, out;  // steps in bytes
};

// What is reduced of an array, and where the results go.
struct Geometry {
    Dimension kept[MOST_DIMENSIONS], reduced[MOST_DIMENSIONS];
    int kept_count = 0, reduced_count = 0;
    const char* in = nullptr;
    Kind kind = KINDS;
    bool bfloat16 = false;          // elements are bfloat16, where that is allowed
    size_t results = 1, terms = 1;  // how many results, of how many elements each

    // False where no loop fits. `axes` is a tuple of dimensions, None for all of them; `out` may be null.
    bool take(PyObject* array, PyObject* axes, PyArrayObject* out, bool takes_bfloat16 = false);
    bool by_rows() const { return reduced[reduced_count - 1].in == item; }
    bool by_columns() const { return kept_count > 0 && kept[kept_count - 1].in == item; }
    // The bytes from the start of an operand to its part `index`, counted along the dimensions.
    static ptrdiff_t offset(const Dimension* dims, int count, size_t index, bool out);

private:
    static void arrange(Dimension* dims, int& count);
    ptrdiff_t item = 0;
};

inline size_t grain_of(size_t terms) { return terms >= GRAIN ? 1 : GRAIN / terms; }

// Call use(where a result's elements begin, where it goes, how many more like it follow by the innermost steps) for
// runs of results, by threads.
template <typename Use>
void for_runs(const Geometry& geometry, char* out, const Use& use) {
    parallel(geometry.results, grain_of(geometry.terms), [&](size_t from, size_t to) {
        const int count = geometry.kept_count;
        const size_t extent = count > 0 ? geometry.kept[count - 1].extent : 1;
        while (from < to) {
            const size_t left = extent - from % extent, run = left < to - from ? left : to - from;
            use(geometry.in + Geometry::offset(geometry.kept, count, from, false),
                out + Geometry::offset(geometry.kept, count, from, true), run);
            from += run;
        }
    });
}

// Call use(where a result's elements begin, where it goes) for every result, by threads.
template <typename Use>
void for_rows(const Geometry& geometry, char* out, const Use& use) {
    const int count = geometry.kept_count;
    const Dimension inner = count > 0 ? geometry.kept[count - 1] : Dimension{1, 0, 0};
    for_runs(geometry, out, [&](const char* in, char* result, size_t run) {
        for (size_t each = 0; each < run; each++)
            use(in + inner.in * static_cast<ptrdiff_t>(each), result + inner.out * static_cast<ptrdiff_t>(each));
    });
}

// Call use(where a tile of columns begins, how wide it is, where its results go) for every tile, by threads.
template <typename Use>
void for_tiles(const Geometry& geometry, char* out, const Use& use) {
    const int outer = geometry.kept_count - 1;
    const Dimension inner = geometry.kept[outer];
    const size_t most = thread_count() == 1 ? COLUMNS : COLUMNS / 4, tiles = (inner.extent + most - 1) / most;
    const size_t grain = grain_of(geometry.terms * (inner.extent < most ? inner.extent : most));
    parallel(geometry.results / inner.extent * tiles, grain, [&](size_t from, size_t to) {
        for (size_t tile = from; tile < to; tile++) {
            const size_t first = tile % tiles * most, rest = inner.extent - first;
            const char* in = geometry.in + Geometry::offset(geometry.kept, outer, tile / tiles, false);
            char* result = out + Geometry::offset(geometry.kept, outer, tile / tiles, true);
            use(in + inner.in * static_cast<ptrdiff_t>(first), rest < most ? rest : most,
                result + inner.out * static_cast<ptrdiff_t>(first));
        }
    });
}

}  // namespace mindtorch
