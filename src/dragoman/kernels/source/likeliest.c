/* What a search asks of logits: their logarithmic softmax, and the largest few. */

#include "vectors.h"

#define BLOCK 64

void log_softmax(const float *logits, int64_t rows, int width, float *result,
                 int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t row = 0; row < rows; row++) {
        const float *z = logits + row * width;
        float *to = result + row * width, highest = highest_of(z, width), total = 0;
        int whole = width - width % LANES;
        vec sum = {0};
        for (int i = 0; i < whole; i += LANES) sum += exp_of(load(z + i) - highest);
        for (int i = whole; i < width; i++) total += expf(z[i] - highest);
        float log_sum = logf(total + sum_of(sum)); /* small: little is lost to rounding */
        for (int i = 0; i < width; i++) to[i] = z[i] - highest - log_sum;
    }
}

/* Put a value where it belongs among the best, which are in order: behind its equals. */
INLINE void insert(float value, int64_t column, float *best, int64_t *columns, int count) {
    int place = count - 1;
    for (; place > 0 && value > best[place - 1]; place--) {
        best[place] = best[place - 1];
        columns[place] = columns[place - 1];
    }
    best[place] = value;
    columns[place] = column;
}

/* The largest of each row, best first, and the columns they stand in; of equal ones the
   lower column comes first. There are at least as many columns as are asked for. */
void largest(const float *values, int64_t rows, int width, int count, float *best,
             int64_t *columns, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t row = 0; row < rows; row++) {
        const float *x = values + row * width;
        float *top = best + row * count;
        int64_t *where = columns + row * count;
        for (int i = 0; i < count; i++) top[i] = -INFINITY, where[i] = -1;
        for (int start = 0; start < width; start += BLOCK) {
            int end = start + BLOCK < width ? start + BLOCK : width;
            if (!(highest_of(x + start, end - start) > top[count - 1])) continue;
            for (int i = start; i < end; i++)
                if (x[i] > top[count - 1]) insert(x[i], i, top, where, count);
        }
        /* What is left open has no chance at all: the first of those. */
        int open = 0;
        while (open < count && where[open] >= 0) open++;
        for (int i = 0; open < count; i++)
            if (!(x[i] > -INFINITY)) where[open++] = i;
    }
}
