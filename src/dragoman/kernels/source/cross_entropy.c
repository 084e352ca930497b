/* Softmax and the gradient of cross-entropy, in place of the logits. */

#include "vectors.h"

/* A row of logits becomes softmax less `known` at its target. `found` gets the logarithm
   of the sum of exponentials, the target's logit and the highest. */
INLINE void softmax_gradient_of_row(float *z, int64_t target, int width, float known,
                                    float *found) {
    int whole = width - width % LANES;
    float highest = highest_of(z, width);
    vec sum = {0};
    float wanted = z[target], total = 0;
    for (int i = 0; i < whole; i += LANES) {
        vec share = exp_of(load(z + i) - highest);
        store(z + i, share);
        sum += share;
    }
    for (int i = whole; i < width; i++) total += z[i] = expf(z[i] - highest);
    total += sum_of(sum);
    float by = 1.0f / total;
    for (int i = 0; i < width; i++) z[i] *= by;
    z[target] -= known;
    found[0] = highest + logf(total);
    found[1] = wanted;
    found[2] = highest;
}

void softmax_gradient(float *logits, const int64_t *targets, int64_t rows, int width,
                      float known, float *found, int threads) {
#pragma omp parallel for num_threads(threads) schedule(dynamic, 4)
    for (int64_t row = 0; row < rows; row++)
        softmax_gradient_of_row(logits + row * width, targets[row], width, known,
                                found + 3 * row);
}

/* The same for logits in bfloat16, which hold the gradient in bfloat16 afterwards. `room`
   has `width` floats for each thread. */
void narrow_softmax_gradient(uint16_t *logits, const int64_t *targets, int64_t rows,
                             int width, float known, float *found, float *room,
                             int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int part = 0; part < threads; part++) {
        float *z = room + (int64_t)part * width;
        for (int64_t row = rows * part / threads; row < rows * (part + 1) / threads; row++) {
            uint16_t *narrow = logits + row * width;
            for (int i = 0; i < width; i++) z[i] = widened(narrow[i]);
            softmax_gradient_of_row(z, targets[row], width, known, found + 3 * row);
            for (int i = 0; i < width; i++) narrow[i] = narrowed(z[i]);
        }
    }
}
