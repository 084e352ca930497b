/* The bias of a linear map, which a product of matrices does not know. */

#include "vectors.h"

void add_bias(float *x, const float *bias, int64_t rows, int width, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t row = 0; row < rows; row++)
        for (int i = 0; i < width; i++) x[row * width + i] += bias[i];
}

/* The same for a product in bfloat16, which becomes floats again. */
void widen_and_add_bias(const uint16_t *product, const float *bias, int64_t rows,
                        int width, float *result, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t row = 0; row < rows; row++)
        for (int i = 0; i < width; i++)
            result[row * width + i] = widened(product[row * width + i]) + bias[i];
}

/* Add a product in bfloat16 to a sum of floats. */
void widen_and_add(const uint16_t *product, int64_t count, float *total, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < count; i++) total[i] += widened(product[i]);
}

/* Sum the rows: by each thread, then over the threads in their order. `sums` holds
   `width` floats for each thread and comes zeroed. Where there is room for it, `narrow`
   gets x in bfloat16 besides. */
void sum_rows(const float *x, int64_t rows, int width, float *sums, uint16_t *narrow,
              int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int part = 0; part < threads; part++) {
        float *own = sums + (int64_t)part * width;
        for (int64_t row = rows * part / threads; row < rows * (part + 1) / threads; row++) {
            const float *from = x + row * width;
            for (int i = 0; i < width; i++) own[i] += from[i];
            if (narrow)
                for (int i = 0; i < width; i++) narrow[row * width + i] = narrowed(from[i]);
        }
    }
    for (int part = 1; part < threads; part++)
        for (int i = 0; i < width; i++) sums[i] += sums[(int64_t)part * width + i];
}
