/* Layer norm (§3.1) and its gradient, one pass over each row. */

#include "norm.h"
#include <stdlib.h>

void norm_forward(const float *x, const float *gain, const float *bias, int64_t rows,
                  int width, float epsilon, float *result, float *mean, float *rate,
                  int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t row = 0; row < rows; row++) {
        Spread found = norm_row(x + row * width, gain, bias, epsilon, width,
                                result + row * width);
        mean[row] = found.mean;
        rate[row] = found.rate;
    }
}

/* The gradients of gain and bias are summed by each thread, then over the threads in
   their order: `sums` holds 2 · width floats for each thread and comes zeroed. */
void norm_backward(const float *gradient, const float *x, const float *gain,
                   const float *mean, const float *rate, int64_t rows, int width,
                   float *given, float *sums, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int part = 0; part < threads; part++) {
        float *gains = sums + (int64_t)part * 2 * width, *biases = gains + width;
        for (int64_t row = rows * part / threads; row < rows * (part + 1) / threads; row++) {
            const float *from = x + row * width, *g = gradient + row * width;
            float middle = mean[row], by = rate[row];
            vec sum = {0}, along = {0};
            for (int i = 0; i < width; i += LANES) {
                vec normed = (load(from + i) - middle) * by, here = load(g + i);
                vec weighted = here * load(gain + i);
                sum += weighted;
                along += weighted * normed;
                store(gains + i, load(gains + i) + here * normed);
                store(biases + i, load(biases + i) + here);
            }
            float least = sum_of(sum) / width, slope = sum_of(along) / width;
            for (int i = 0; i < width; i += LANES) {
                vec normed = (load(from + i) - middle) * by;
                vec weighted = load(g + i) * load(gain + i);
                store(given + row * width + i, (weighted - least - normed * slope) * by);
            }
        }
    }
    for (int part = 1; part < threads; part++)
        for (int i = 0; i < 2 * width; i++) sums[i] += sums[(int64_t)part * 2 * width + i];
}
