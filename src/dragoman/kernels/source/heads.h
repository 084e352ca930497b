/* Words split into heads, and how rotary positions turn them. */

#ifndef DRAGOMAN_HEADS_H
#define DRAGOMAN_HEADS_H

#include "vectors.h"

/* Queries, keys, values or what becomes of them: where each sentence, head and word
   begins. The numbers of a head's word follow one another. */
typedef struct {
    float *data;
    int64_t sentence, head, word;
} Heads;

/* One head of one sentence. */
typedef struct {
    float *data;
    int64_t word;
} Head;

INLINE Head one(const Heads *of, int64_t sentence, int head) {
    return (Head){of->data + sentence * of->sentence + head * of->head, of->word};
}

/* Turn each pair of dimensions (i, i + width / 2) of one word, perhaps where it lies. */
INLINE void turn_word(const float *from, const float *cosines, const float *sines,
                      int width, float *to) {
    int half = width / 2, i = 0;
    for (; i + LANES <= half; i += LANES) {
        vec first = load(from + i), second = load(from + half + i);
        vec cosine = load(cosines + i), sine = load(sines + i);
        store(to + i, first * cosine - second * sine);
        store(to + half + i, second * cosine + first * sine);
    }
    for (; i < half; i++) {
        float first = from[i], second = from[half + i];
        to[i] = first * cosines[i] - second * sines[i];
        to[half + i] = second * cosines[i] + first * sines[i];
    }
}

#endif
