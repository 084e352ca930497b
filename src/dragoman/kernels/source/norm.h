/* Layer norm (§3.1) of one row. */

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

#endif
