/* Dropout, alone, in a residual sum, and behind a rectifier. */

#include "dropout.h"

/* Give x + mask · written, or mask · written alone where x is NULL. */
void drop(const float *x, const float *written, int64_t count, uint64_t seed,
          int threshold, float *result, int threads) {
    const float scale = 256.0f / (256 - threshold);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t block = 0; block < (count + BLOCK - 1) / BLOCK; block++) {
        int64_t first = block * BLOCK;
        int64_t here = count - first < BLOCK ? count - first : BLOCK;
        uint8_t bytes[BLOCK];
        draw(seed, first, here, bytes);
        const float *w = written + first;
        float *r = result + first;
        drop_some(x ? x + first : NULL, w, bytes, here, threshold, scale, r);
    }
}

/* Give mask · max(0, x); the seed is not used where the threshold is 0. */
void rectify_and_drop(const float *x, int64_t count, uint64_t seed, int threshold,
                      float *result, int threads) {
    const float scale = 256.0f / (256 - threshold);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t block = 0; block < (count + BLOCK - 1) / BLOCK; block++) {
        int64_t first = block * BLOCK;
        int64_t here = count - first < BLOCK ? count - first : BLOCK;
        const float *from = x + first;
        float *r = result + first;
        if (threshold) {
            uint8_t bytes[BLOCK];
            draw(seed, first, here, bytes);
            for (int64_t i = 0; i < here; i++) {
                float kept = bytes[i] >= threshold ? from[i] * scale : 0.0f;
                r[i] = kept < 0 ? 0.0f : kept;
            }
        } else {
            for (int64_t i = 0; i < here; i++) r[i] = from[i] < 0 ? 0.0f : from[i];
        }
    }
}

/* What passed was neither dropped nor negative: the result says all there is to know. */
void rectify_and_drop_backward(const float *gradient, const float *result, int64_t count,
                               int threshold, float *given, int threads) {
    const float scale = 256.0f / (256 - threshold);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < count; i++)
        given[i] = result[i] > 0 ? gradient[i] * scale : 0.0f;
}
