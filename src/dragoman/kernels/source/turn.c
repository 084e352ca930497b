/* Rotary positions: each word's queries or keys are turned by its place. */

#include "heads.h"

/* `cosines` and `sines` are (word, width); all heads turn alike. */
void turn_heads(const Heads *from, const Heads *to, const float *cosines,
                const float *sines, int64_t sentences, int heads, int words, int width,
                int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t sentence = 0; sentence < sentences; sentence++)
        for (int word = 0; word < words; word++)
            for (int head = 0; head < heads; head++) {
                Head read = one(from, sentence, head), written = one(to, sentence, head);
                turn_word(read.data + word * read.word, cosines + word * width,
                          sines + word * width, width, written.data + word * written.word);
            }
}
