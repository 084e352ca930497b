/* The paper's LayerNorm(x + Dropout(Sublayer(x))) (§3.1, §5.4) and its gradient, row by row:
   the same numbers as one after the other give, with fewer ways to memory. */

#include "dropout.h"
#include "norm.h"

void residual_forward(const float *x, const float *written, uint64_t seed, int threshold,
                      const float *gain, const float *bias, int64_t rows, int width,
                      float epsilon, float *summed, float *result, float *mean, float *rate,
                      int threads) {
    const float scale = 256.0f / (256 - threshold);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t row = 0; row < rows; row++) {
        int64_t first = row * width;
        uint8_t bytes[BLOCK];
        draw(seed, first, width, bytes);
        drop_some(x + first, written + first, bytes, width, threshold, scale, summed + first);
        Spread found = norm_row(summed + first, gain, bias, epsilon, width, result + first);
        mean[row] = found.mean;
        rate[row] = found.rate;
    }
}

/* `given` is what x gets, `dropped` what the sublayer gets. The gradients of gain and bias
   are summed by each thread, then over the threads in their order: `sums` holds 2 · width
   floats for each thread and comes zeroed. */
void residual_backward(const float *gradient, const float *summed, uint64_t seed,
                       int threshold, const float *gain, const float *mean,
                       const float *rate, int64_t rows, int width, float *given,
                       float *dropped, float *sums, int threads) {
    const float scale = 256.0f / (256 - threshold);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int part = 0; part < threads; part++) {
        float *gains = sums + (int64_t)part * 2 * width, *biases = gains + width;
        for (int64_t row = rows * part / threads; row < rows * (part + 1) / threads; row++) {
            int64_t first = row * width;
            Spread spread = {mean[row], rate[row]};
            uint8_t bytes[BLOCK];
            norm_row_backward(gradient + first, summed + first, gain, spread, width,
                              given + first, gains, biases);
            draw(seed, first, width, bytes);
            drop_some(NULL, given + first, bytes, width, threshold, scale, dropped + first);
        }
    }
    add_up(sums, width, threads);
}
