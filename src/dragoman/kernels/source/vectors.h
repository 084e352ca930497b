/* Vectors as wide as the processor's registers, in GCC's and Clang's own terms: a wider one
   than there are registers would go through memory. Loops over threads are split in one
   fixed way wherever it decides in which order something is summed, so that the same
   number of threads always gives the same bits. */

#ifndef DRAGOMAN_VECTORS_H
#define DRAGOMAN_VECTORS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Floats in a vector, and how many vectors the registers hold. */
#if defined(__AVX512F__)
#define LANES 16
#define REGISTERS 32
#elif defined(__AVX__)
#define LANES 8
#define REGISTERS 16
#elif defined(__aarch64__)
#define LANES 4
#define REGISTERS 32
#else
#define LANES 4
#define REGISTERS 16
#endif

#define INLINE static inline __attribute__((always_inline))

typedef float vec __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef int32_t ivec __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

INLINE vec load(const float *from) { return *(const vec *)from; }
INLINE void store(float *to, vec x) { *(vec *)to = x; }
INLINE vec all(float x) { return x - (vec){0}; }
INLINE vec choose(ivec yes, vec a, vec b) {
    return (vec)((yes & (ivec)a) | (~yes & (ivec)b));
}
INLINE vec larger(vec a, vec b) { return choose(a > b, a, b); }

/* bfloat16 is the upper half of a float. Narrowing rounds to the nearest, or to the even
   one of two; what is not a number stays so. */
typedef union {
    float number;
    uint32_t bits;
} Word;
INLINE float widened(uint16_t narrow) {
    return (Word){.bits = (uint32_t)narrow << 16}.number;
}
INLINE uint16_t narrowed(float x) {
    uint32_t bits = (Word){.number = x}.bits;
    uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return x != x ? 0x7fc0 : rounded;
}

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define FOLDS
#endif
#endif

/* A shuffle of one or two vectors, whose lane i takes number `which(i, by)` of them. */
#ifdef FOLDS
#define FOUR(which, i, by) which(i, by), which(i + 1, by), which(i + 2, by), which(i + 3, by)
#if LANES == 16
#define ALL_LANES(which, by)                                                            \
    FOUR(which, 0, by), FOUR(which, 4, by), FOUR(which, 8, by), FOUR(which, 12, by)
#elif LANES == 8
#define ALL_LANES(which, by) FOUR(which, 0, by), FOUR(which, 4, by)
#else
#define ALL_LANES(which, by) FOUR(which, 0, by)
#endif
#define SHUFFLED(which, a, b, by) __builtin_shufflevector(a, b, ALL_LANES(which, by))

/* Put one half of what is left of a vector upon the other, until two numbers are left. */
#define MOVED(lane, by) (((lane) + (by)) % LANES)
#define MOVE(x, by) SHUFFLED(MOVED, x, x, by)
INLINE float sum_of(vec x) {
#if LANES >= 16
    x += MOVE(x, 8);
#endif
#if LANES >= 8
    x += MOVE(x, 4);
#endif
    x += MOVE(x, 2);
    return x[0] + x[1];
}

INLINE float largest_of(vec x) {
#if LANES >= 16
    x = larger(x, MOVE(x, 8));
#endif
#if LANES >= 8
    x = larger(x, MOVE(x, 4));
#endif
    x = larger(x, MOVE(x, 2));
    return x[0] > x[1] ? x[0] : x[1];
}

/* Exchange the off-diagonal squares of so many rows and lanes, in all pairs of rows. */
#define LOW(lane, by) ((lane) & (by) ? LANES + (lane) - (by) : (lane))
#define HIGH(lane, by) ((lane) & (by) ? LANES + (lane) : (lane) + (by))
#define EXCHANGE(rows, by)                                                              \
    for (int i = 0; i < LANES; i++)                                                     \
        if (!(i & (by))) {                                                              \
            vec a = rows[i], b = rows[i + (by)];                                        \
            rows[i] = SHUFFLED(LOW, a, b, by);                                          \
            rows[i + (by)] = SHUFFLED(HIGH, a, b, by);                                  \
        }
INLINE void transpose(vec *rows) {
#if LANES >= 16
    EXCHANGE(rows, 8)
#endif
#if LANES >= 8
    EXCHANGE(rows, 4)
#endif
    EXCHANGE(rows, 2)
    EXCHANGE(rows, 1)
}
#else
INLINE void transpose(vec *rows) {
    vec before[LANES];
    memcpy(before, rows, sizeof before);
    for (int i = 0; i < LANES; i++)
        for (int j = 0; j < LANES; j++) rows[i][j] = before[j][i];
}

INLINE float sum_of(vec x) {
    float sum = 0;
    for (int lane = 0; lane < LANES; lane++) sum += x[lane];
    return sum;
}

INLINE float largest_of(vec x) {
    float most = x[0];
    for (int lane = 1; lane < LANES; lane++) most = x[lane] > most ? x[lane] : most;
    return most;
}
#endif

INLINE float highest_of(const float *x, int width) {
    int whole = width - width % LANES;
    vec most = all(-INFINITY);
    for (int i = 0; i < whole; i += LANES) most = larger(load(x + i), most);
    float highest = largest_of(most);
    for (int i = whole; i < width; i++) highest = x[i] > highest ? x[i] : highest;
    return highest;
}

/* e to the x, to within two units of the last place; below -87 as good as nothing. */
INLINE vec exp_of(vec x) {
    const float round = 12582912.0f; /* 1.5 · 2²³: adding it leaves no fraction */
    vec inside = larger(x, all(-87.0f));
    vec whole = inside * 1.44269504f + round;
    ivec power = (ivec)whole - (ivec)all(round);
    vec n = whole - round;
    vec r = inside - n * 0.693145752f - n * 1.42860677e-6f; /* ln 2 in two parts */
    vec e = all(1.0f / 720);
    e = e * r + 1.0f / 120;
    e = e * r + 1.0f / 24;
    e = e * r + 1.0f / 6;
    e = e * r + 0.5f;
    e = e * r + 1.0f;
    e = e * r + 1.0f;
    vec scaled = (vec)((ivec)e + (power << 23));
    return choose(x != x, x, scaled); /* what is not a number stays so */
}

#endif
