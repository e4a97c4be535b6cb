// How products are shared among threads, and which loop does them.
#include "gemm/gemm.h"

#include "parallel.h"
#include "memory/scratch.h"

namespace mindtorch {

namespace {

constexpr double WORTH_A_THREAD = 4e5;  // multiplications

template <typename Real>
const GemmLoops<Real>& loops();
template <>
const GemmLoops<float>& loops() {
    return gemm_loops();
}
template <>
const GemmLoops<double>& loops() {
    return gemm_double_loops();
}
template <>
const GemmLoops<uint16_t>& loops() {
    return has_avx512_bf16 ? bfloat16_dot_loops() : bfloat16_gemm_loops();
}

size_t least(size_t a, size_t b) { return a < b ? a : b; }
size_t parts_of(size_t count, size_t parts) { return (count + parts - 1) / parts; }
size_t rounded(size_t count) { return (count + 15) / 16 * 16; }

template <typename Real>
Matrix<Real> transposed(const Matrix<Real>& m) {
    return {m.data, m.column, m.row};
}

template <typename Real>
Product<Real> transposed(const Product<Real>& p) {
    return {p.columns, p.rows,  p.depth, transposed(p.right), transposed(p.left), p.out, p.out_column,
            p.out_row, p.alpha, p.beta,  transposed(p.addend)};
}

// The part of a product that gives some rows and columns of the result.
template <typename Real>
Product<Real> part(const Product<Real>& p, size_t row, size_t rows, size_t column, size_t columns) {
    Product<Real> made = p;
    const ptrdiff_t i = static_cast<ptrdiff_t>(row), j = static_cast<ptrdiff_t>(column);
    made.rows = rows;
    made.columns = columns;
    made.left.data += i * p.left.row;
    made.right.data += j * p.right.column;
    made.out += i * p.out_row + j * p.out_column;
    if (p.addend.data != nullptr) made.addend.data += i * p.addend.row + j * p.addend.column;
    return made;
}

template <typename Real>
Product<Real> member(const Batch<Real>& batch, size_t index) {
    Product<Real> made = batch.first;
    const ptrdiff_t at = static_cast<ptrdiff_t>(index);
    made.left.data += at * batch.left;
    made.right.data += at * batch.right;
    made.out += at * batch.out;
    if (made.addend.data != nullptr) made.addend.data += at * batch.addend;
    return made;
}

template <typename Real>
bool dense(const Matrix<Real>& m, size_t rows, size_t columns) {
    return m.row == 1 || m.column == 1 || rows == 1 || columns == 1;
}

template <typename Real>
void transpose(Batch<Real>& batch) {
    batch.first = transposed(batch.first);
    const ptrdiff_t left = batch.left;
    batch.left = batch.right;
    batch.right = left;
}

// Whether many sums go down a depth of a few vectors, whose lanes take longer to add up than a tile takes, which adds
// none.
template <typename Real>
bool is_short(const Product<Real>& p) {
    constexpr size_t VECTORS = 4, MANY = 256;
    return p.right.row == 1 && p.rows > 1 && p.columns >= MANY && p.depth > 1 &&
           p.depth <= VECTORS * loops<Real>().width;
}

// Turn the batch, where that helps, into one whose products have few rows; false when it has none such.
template <typename Real>
bool make_skinny(Batch<Real>& batch) {
    const Product<Real>& p = batch.first;
    // Of a tile some columns more would be in vain; sums down the depth need none.
    const size_t most = p.columns < p.rows && p.left.column == 1 ? 2 * SKINNY : SKINNY;
    if (p.rows > SKINNY && p.columns > most) return false;
    if (is_short(p.columns < p.rows ? transposed(p) : p)) return false;
    if (p.columns < p.rows) transpose(batch);
    return dense(batch.first.right, batch.first.depth, batch.first.columns);
}

// Few rows of bfloat16 are multiplied where they lie, and down columns alone: all else is as quick when it is packed.
bool few_dense_rows(const Product<uint16_t>& p) {
    return p.rows <= SKINNY && p.out_column == 1 && p.left.column == 1 && p.right.row == 1;
}

template <>
bool make_skinny(Batch<uint16_t>& batch) {
    if (few_dense_rows(batch.first)) return true;
    if (!few_dense_rows(transposed(batch.first))) return false;
    transpose(batch);
    return true;
}

// Make the rows of a product dense in `memory`; the memory behind them.
template <typename Real>
Real* gather_rows(Product<Real>& p, Real* memory) {
    for (size_t i = 0; i < p.rows; i++)
        for (size_t k = 0; k < p.depth; k++)
            memory[i * p.depth + k] =
                p.left.data[static_cast<ptrdiff_t>(i) * p.left.row + static_cast<ptrdiff_t>(k) * p.left.column];
    p.left = {memory, static_cast<ptrdiff_t>(p.depth), 1};
    return memory + p.rows * p.depth;
}
// Rows of bfloat16 are dense where they are few.
float* gather_rows(Product<uint16_t>&, float* memory) { return memory; }

// A product of few rows; `memory` holds its rows and its sums.
template <typename Real>
void run_skinny(Product<Real> p, AccumulateType<Real>* memory) {
    if (p.left.column != 1) memory = gather_rows(p, memory);
    loops<Real>().multiply_skinny(p, memory);
}

// Whether the products of a batch of few rows are so small that what is done for each of them counts. Sums down columns
// that are longer are rounded in another order.
template <typename Real>
bool is_tiny(const Product<Real>& p) {
    const size_t width = loops<Real>().width, longest = p.right.row == 1 ? width / 2 : width;
    return p.depth > 0 && p.depth < longest && p.rows * p.columns * p.depth <= TINY;
}

template <typename Real>
void run_tiny(Batch<Real> batch, size_t from, size_t to) {
    batch.first = member(batch, from);
    batch.count = to - from;
    loops<Real>().multiply_tiny(batch);
}

// How a result is cut: `down` times `across` parts of `rows` by `columns`.
struct Cut {
    size_t down = 1, across = 1, rows = 0, columns = 0;
};

// At most `parts` parts, such that as little as possible is packed twice.
template <typename Real>
Cut cut(const Product<Real>& p, size_t parts, bool skinny) {
    const size_t mr = skinny ? p.rows : loops<Real>().mr;
    const size_t nr = skinny ? 16 : loops<Real>().nr;
    Cut best;
    double least_packed = -1;
    for (size_t down = 1; down <= parts; down++) {
        if (parts % down != 0) continue;
        Cut made;
        made.rows = parts_of(parts_of(p.rows, mr), down) * mr;
        made.columns = parts_of(parts_of(p.columns, nr), parts / down) * nr;
        made.down = parts_of(p.rows, made.rows);
        made.across = parts_of(p.columns, made.columns);
        // The longest part decides, and then what every thread packs for itself.
        const double packed = static_cast<double>(made.rows) * static_cast<double>(made.columns) +
                              static_cast<double>(made.rows + made.columns);
        if (least_packed < 0 || packed < least_packed) {
            least_packed = packed;
            best = made;
        }
    }
    return best;
}

template <typename Real>
bool run(Batch<Real> batch) {
    Product<Real>& first = batch.first;
    if (batch.count == 0 || first.rows == 0 || first.columns == 0) return true;
    if (first.depth == 0) first.left = {first.out, 0, 0}, first.right = {first.out, 0, 0};
    const bool skinny = make_skinny(batch);
    if (!skinny && first.out_column != 1) {
        if (first.out_row != 1) return false;
        transpose(batch);
    }
    const double work = static_cast<double>(batch.count) * static_cast<double>(first.rows) *
                        static_cast<double>(first.columns) * static_cast<double>(first.depth);
    const double worth = work / WORTH_A_THREAD;
    const size_t threads = static_cast<size_t>(thread_count());
    const size_t used = worth < static_cast<double>(threads) ? static_cast<size_t>(worth) + (worth < 1) : threads;
    // A whole pool's work lets go of Python's lock even where it is one thread's.
    const auto grain_of = [&](size_t count) {
        return work < WORTH_A_THREAD ? count : used == threads ? 0 : parts_of(count, used);
    };
    if (skinny && batch.count > 1 && is_tiny(first)) {
        parallel(batch.count, grain_of(batch.count), [&](size_t from, size_t to) { run_tiny(batch, from, to); });
        return true;
    }
    const Cut pieces = cut<Real>(first, parts_of(used, batch.count), skinny);
    const size_t each = pieces.down * pieces.across, count = batch.count * each;
    const size_t rows = least(pieces.rows, first.rows), columns = least(pieces.columns, first.columns);
    const size_t size =
        rounded(skinny ? rows * (first.depth + columns) : loops<Real>().scratch(rows, columns, first.depth));
    const size_t grain = grain_of(count);
    const size_t workers = least(grain == 0 ? count : parts_of(count, grain), threads);
    auto* memory = static_cast<AccumulateType<Real>*>(scratch(workers * size * sizeof(AccumulateType<Real>)));
    if (memory == nullptr) return false;
    const auto body = [&](size_t from, size_t to) {
        // Parts of the pool are count * i / workers: the one that begins at `from` is i.
        AccumulateType<Real>* own = memory + (from * workers + count - 1) / count * size;
        for (size_t at = from; at < to; at++) {
            const size_t row = at % each / pieces.across * pieces.rows,
                         column = at % each % pieces.across * pieces.columns;
            const Product<Real> one = part(member(batch, at / each), row, least(pieces.rows, first.rows - row), column,
                                           least(pieces.columns, first.columns - column));
            if (skinny)
                run_skinny(one, own);
            else
                loops<Real>().multiply(one, own);
        }
    };
    parallel(count, grain, body);
    return true;
}

}  // namespace

bool multiply_all(const Batch<float>& batch) { return run(batch); }
bool multiply_all(const Batch<double>& batch) { return run(batch); }
bool multiply_all(const Batch<uint16_t>& batch) { return run(batch); }

}  // namespace mindtorch
