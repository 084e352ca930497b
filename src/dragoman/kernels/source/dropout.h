/* Which elements drop is a function of a seed and their place alone: nothing has to be kept
   for the backward pass, and the number of threads does not matter. */

#ifndef DRAGOMAN_DROPOUT_H
#define DRAGOMAN_DROPOUT_H

#include "vectors.h"

#define BLOCK 4096 /* elements at most that are drawn for at once */

/* One random byte for each element from a whole eighth place on, by the finaliser of SplitMix64. */
static inline void draw(uint64_t seed, int64_t first, int64_t count, uint8_t *bytes) {
    int64_t words = (count + 7) / 8;
    uint64_t drawn[BLOCK / 8];
    for (int64_t i = 0; i < words; i++) {
        uint64_t z = seed + (uint64_t)(first / 8 + i + 1) * 0x9E3779B97F4A7C15u;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        drawn[i] = z ^ (z >> 31);
    }
    memcpy(bytes, drawn, (size_t)words * 8);
}

/* Give x + mask · written, or mask · written alone where x is NULL. */
INLINE void drop_some(const float *x, const float *written, const uint8_t *bytes,
                      int64_t count, int threshold, float scale, float *result) {
    if (x)
        for (int64_t i = 0; i < count; i++)
            result[i] = x[i] + (bytes[i] >= threshold ? written[i] * scale : 0.0f);
    else
        for (int64_t i = 0; i < count; i++)
            result[i] = bytes[i] >= threshold ? written[i] * scale : 0.0f;
}

#endif
