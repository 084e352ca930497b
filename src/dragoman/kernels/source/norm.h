/* Layer norm (§3.1) of one row, and its gradient. */

#ifndef DRAGOMAN_NORM_H
#define DRAGOMAN_NORM_H

#include "vectors.h"

typedef struct {
    float mean, rate; /* what was taken off, and what the rest was multiplied by */
} Spread;

INLINE Spread norm_row(const float *from, const float *gain, const float *bias,
                       float epsilon, int width, float *to) {
    vec sum = {0}, squares = {0};
    for (int i = 0; i < width; i += LANES) sum += load(from + i);
    float mean = sum_of(sum) / width;
    for (int i = 0; i < width; i += LANES) {
        vec off = load(from + i) - mean;
        squares += off * off;
    }
    float rate = 1.0f / sqrtf(sum_of(squares) / width + epsilon);
    for (int i = 0; i < width; i += LANES)
        store(to + i, (load(from + i) - mean) * rate * load(gain + i) + load(bias + i));
    return (Spread){mean, rate};
}

INLINE void norm_row_backward(const float *gradient, const float *from, const float *gain,
                              Spread spread, int width, float *given, float *gains,
                              float *biases) {
    vec sum = {0}, along = {0};
    for (int i = 0; i < width; i += LANES) {
        vec normed = (load(from + i) - spread.mean) * spread.rate, here = load(gradient + i);
        vec weighted = here * load(gain + i);
        sum += weighted;
        along += weighted * normed;
        store(gains + i, load(gains + i) + here * normed);
        store(biases + i, load(biases + i) + here);
    }
    float least = sum_of(sum) / width, slope = sum_of(along) / width;
    for (int i = 0; i < width; i += LANES) {
        vec normed = (load(from + i) - spread.mean) * spread.rate;
        vec weighted = load(gradient + i) * load(gain + i);
        store(given + i, (weighted - least - normed * slope) * spread.rate);
    }
}

/* Put the threads' sums of gains and biases upon the first one's, in their order. */
INLINE void add_up(float *sums, int width, int threads) {
    for (int part = 1; part < threads; part++)
        for (int i = 0; i < 2 * width; i++) sums[i] += sums[(int64_t)part * 2 * width + i];
}

#endif
