/* R-Drop: the gradient of two predictions of the same tokens, in place of their logits. */

#include "vectors.h"

/* What the two rows of one token come to. */
typedef struct {
    float highest[2], log_sum[2], divergence[2];
} agreement;

/* KL(p‖q) is the mean of z - y under p, less the difference of their logarithmic sums. */
INLINE agreement compare(const float *z, const float *y, int width) {
    agreement found = {.highest = {highest_of(z, width), highest_of(y, width)}};
    vec sums[2] = {{0}, {0}}, means[2] = {{0}, {0}};
    float sum[2] = {0}, mean[2] = {0};
    int whole = width - width % LANES;
    for (int i = 0; i < whole; i += LANES) {
        vec apart = load(z + i) - load(y + i);
        vec p = exp_of(load(z + i) - found.highest[0]);
        vec q = exp_of(load(y + i) - found.highest[1]);
        sums[0] += p, sums[1] += q;
        means[0] += p * apart, means[1] -= q * apart;
    }
    for (int i = whole; i < width; i++) {
        float apart = z[i] - y[i];
        float p = expf(z[i] - found.highest[0]), q = expf(y[i] - found.highest[1]);
        sum[0] += p, sum[1] += q;
        mean[0] += p * apart, mean[1] -= q * apart;
    }
    for (int pass = 0; pass < 2; pass++) {
        sum[pass] += sum_of(sums[pass]);
        mean[pass] += sum_of(means[pass]);
        found.log_sum[pass] = found.highest[pass] + logf(sum[pass]);
        found.divergence[pass] = mean[pass] / sum[pass];
    }
    float between = found.log_sum[0] - found.log_sum[1];
    found.divergence[0] -= between;
    found.divergence[1] += between;
    return found;
}

/* The two rows of a token each become ½ (p - `known` at the target) + `weight`
   (p (log p - log q - KL(p‖q)) + p - q). `found` gets, for each of the two, the logarithm
   of the sum of exponentials, the target's logit, the highest one and KL(p‖q). */
INLINE void agreement_gradient_of_token(float *z, float *y, int64_t target, int width,
                                        float known, float weight, float *found[2]) {
    int whole = width - width % LANES;
    agreement both = compare(z, y, width);
    for (int pass = 0; pass < 2; pass++) {
        found[pass][0] = both.log_sum[pass];
        found[pass][1] = (pass ? y : z)[target];
        found[pass][2] = both.highest[pass];
        found[pass][3] = both.divergence[pass];
    }
    float keep[2] = {0.5f + weight - weight * both.divergence[0],
                     0.5f + weight - weight * both.divergence[1]};
    for (int i = 0; i < whole; i += LANES) {
        vec log_p = load(z + i) - both.log_sum[0];
        vec log_q = load(y + i) - both.log_sum[1];
        vec p = exp_of(log_p), q = exp_of(log_q), ratio = weight * (log_p - log_q);
        store(z + i, p * (keep[0] + ratio) - weight * q);
        store(y + i, q * (keep[1] - ratio) - weight * p);
    }
    for (int i = whole; i < width; i++) {
        float log_p = z[i] - both.log_sum[0], log_q = y[i] - both.log_sum[1];
        float p = expf(log_p), q = expf(log_q), ratio = weight * (log_p - log_q);
        z[i] = p * (keep[0] + ratio) - weight * q;
        y[i] = q * (keep[1] - ratio) - weight * p;
    }
    z[target] -= 0.5f * known;
    y[target] -= 0.5f * known;
}

/* `logits` holds the rows of one pass below those of the other, and so does `found`. */
void agreement_gradient(float *logits, const int64_t *targets, int64_t rows, int width,
                        float known, float weight, float *found, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t row = 0; row < rows; row++) {
        float *told[2] = {found + 4 * row, found + 4 * (rows + row)};
        agreement_gradient_of_token(logits + row * width, logits + (rows + row) * width,
                                    targets[row], width, known, weight, told);
    }
}

/* The same for logits in bfloat16, which hold the gradient in bfloat16 afterwards. `room`
   has twice `width` floats for each thread. */
void narrow_agreement_gradient(uint16_t *logits, const int64_t *targets, int64_t rows,
                               int width, float known, float weight, float *found,
                               float *room, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int part = 0; part < threads; part++) {
        float *z = room + 2 * (int64_t)part * width, *y = z + width;
        for (int64_t row = rows * part / threads; row < rows * (part + 1) / threads; row++) {
            uint16_t *first = logits + row * width, *second = logits + (rows + row) * width;
            float *told[2] = {found + 4 * row, found + 4 * (rows + row)};
            for (int i = 0; i < width; i++) z[i] = widened(first[i]);
            for (int i = 0; i < width; i++) y[i] = widened(second[i]);
            agreement_gradient_of_token(z, y, targets[row], width, known, weight, told);
            for (int i = 0; i < width; i++) first[i] = narrowed(z[i]);
            for (int i = 0; i < width; i++) second[i] = narrowed(y[i]);
        }
    }
}
