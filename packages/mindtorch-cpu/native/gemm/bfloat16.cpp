// How products of bfloat16 are shared among threads, and which loop does them.
#include "gemm/bfloat16.h"

#include "parallel.h"
#include "memory/scratch.h"

namespace mindtorch {

namespace {

constexpr double WORTH_A_THREAD = 4e5;  // multiplications

const BFloat16GemmLoops& loops() { return has_avx512_bf16 ? bfloat16_dot_loops() : bfloat16_gemm_loops(); }

size_t parts_of(size_t count, size_t parts) { return (count + parts - 1) / parts; }
size_t least(size_t a, size_t b) { return a < b ? a : b; }

Matrix<uint16_t> transposed(const Matrix<uint16_t>& m) { return {m.data, m.column, m.row}; }

BFloat16Batch transposed(const BFloat16Batch& b) {
    const BFloat16Product& p = b.first;
    return {{p.columns, p.rows, p.depth, transposed(p.right), transposed(p.left), p.out, b.out_column, p.alpha, p.beta,
             transposed(p.addend)},
            p.out_row,
            b.count,
            b.right,
            b.left,
            b.out,
            b.addend};
}

// One product of the batch, some of its columns and all of its rows.
BFloat16Product member(const BFloat16Batch& batch, size_t index, size_t column, size_t columns) {
    BFloat16Product made = batch.first;
    const ptrdiff_t at = static_cast<ptrdiff_t>(index), j = static_cast<ptrdiff_t>(column);
    made.columns = columns;
    made.left.data += at * batch.left;
    made.right.data += at * batch.right + j * made.right.column;
    made.out += at * batch.out + j;
    if (made.addend.data != nullptr) made.addend.data += at * batch.addend + j * made.addend.column;
    return made;
}

// True where the loop for few rows takes the product as it is.
bool skinny(const BFloat16Batch& b) {
    const BFloat16Product& p = b.first;
    return p.rows <= SKINNY && b.out_column == 1 && p.left.column == 1 && p.right.row == 1;
}

}  // namespace

bool multiply_all(const BFloat16Batch& given) {
    BFloat16Batch batch = given;
    if (batch.count == 0 || batch.first.rows == 0 || batch.first.columns == 0) return true;
    if (!skinny(batch) && (batch.out_column != 1 || skinny(transposed(batch)))) batch = transposed(batch);
    if (batch.out_column != 1) return false;
    const BFloat16Product& p = batch.first;
    const bool by_rows = skinny(batch);
    const double work = static_cast<double>(batch.count) * static_cast<double>(p.rows) *
                        static_cast<double>(p.columns) * static_cast<double>(p.depth);
    const size_t threads = static_cast<size_t>(thread_count());
    const size_t tiles = parts_of(p.columns, loops().nr);
    const size_t cuts = work < WORTH_A_THREAD ? 1 : least(parts_of(threads, batch.count), tiles);
    const size_t columns = parts_of(tiles, cuts) * loops().nr, across = parts_of(p.columns, columns);
    const size_t count = batch.count * across;
    const size_t size = by_rows ? 64 : (loops().scratch(p.rows, least(columns, p.columns), p.depth) + 63) / 64 * 64;
    const size_t workers = least(count, threads);
    auto* memory = static_cast<char*>(scratch(workers * size));
    if (memory == nullptr) return false;
    parallel(count, work < WORTH_A_THREAD ? count : 0, [&](size_t from, size_t to) {
        // Parts of the pool are count * i / workers: the one that begins at `from` is i.
        char* own = memory + (from * workers + count - 1) / count * size;
        for (size_t at = from; at < to; at++) {
            const size_t column = at % across * columns;
            const BFloat16Product one = member(batch, at / across, column, least(columns, p.columns - column));
            if (by_rows)
                loops().multiply_skinny(one);
            else
                loops().multiply(one, own);
        }
    });
    return true;
}

}  // namespace mindtorch
