/* Softmax and the gradient of cross-entropy, in place of the logits. */

#include "vectors.h"

/* Each row of logits becomes softmax less `known` at its target. `found` gets, for each
   row, the logarithm of the sum of exponentials, the target's logit and the highest. */
void softmax_gradient(float *logits, const int64_t *targets, int64_t rows, int width,
                      float known, float *found, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t row = 0; row < rows; row++) {
        float *z = logits + row * width;
        int whole = width - width % LANES;
        float highest = highest_of(z, width);
        vec sum = {0};
        float wanted = z[targets[row]], total = 0;
        for (int i = 0; i < whole; i += LANES) {
            vec share = exp_of(load(z + i) - highest);
            store(z + i, share);
            sum += share;
        }
        for (int i = whole; i < width; i++) total += z[i] = expf(z[i] - highest);
        total += sum_of(sum);
        float by = 1.0f / total;
        for (int i = 0; i < width; i++) z[i] *= by;
        z[targets[row]] -= known;
        found[3 * row] = highest + logf(total);
        found[3 * row + 1] = wanted;
        found[3 * row + 2] = highest;
    }
}
