/* Layer norm (§3.1) and its gradient, one pass over each row. */

#include "norm.h"

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
            Spread spread = {mean[row], rate[row]};
            norm_row_backward(gradient + row * width, x + row * width, gain, spread, width,
                              given + row * width, gains, biases);
        }
    }
    add_up(sums, width, threads);
}
