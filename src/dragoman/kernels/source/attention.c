/* Scaled dot-product attention (§3.2.1) of short sentences, and its gradient.

   All heads of all sentences are small products, which a general library multiplies
   slowly: here one head's numbers stay in the nearest cache. Weights are not kept for
   the backward pass but computed again, from the sums that softmax divided by. */

#include "vectors.h"

#define LONGEST 128 /* words of a sentence, and dimensions of a head */

/* Queries, keys, values or what becomes of them: where each sentence, head and word
   begins. The numbers of a head's word follow one another. */
typedef struct {
    float *data;
    int64_t sentence, head, word;
} Heads;

typedef struct {
    int64_t sentences;
    int heads, queries, keys, width, causal;
    float scale;
    const uint8_t *mask; /* which keys are words (sentences × keys); NULL: all */
} Shape;

/* One head of one sentence. */
typedef struct {
    float *data;
    int64_t word;
} Head;

INLINE Head one(const Heads *of, int64_t sentence, int head) {
    return (Head){of->data + sentence * of->sentence + head * of->head, of->word};
}

/* C = A · B for some rows and some vectors of columns; A's numbers may lie anyhow. */
#define BLOCK(ROWS, VECTORS)                                                            \
    INLINE void block_##ROWS##_##VECTORS(                                               \
        int inner, const float *a, int64_t a_row, int64_t a_inner, const float *b,      \
        int64_t b_row, float *c, int64_t c_row) {                                       \
        vec sum[ROWS][VECTORS];                                                         \
        for (int r = 0; r < ROWS; r++)                                                  \
            for (int v = 0; v < VECTORS; v++) sum[r][v] = (vec){0};                     \
        for (int k = 0; k < inner; k++) {                                               \
            vec right[VECTORS];                                                         \
            for (int v = 0; v < VECTORS; v++) right[v] = load(b + k * b_row + v * LANES); \
            for (int r = 0; r < ROWS; r++) {                                            \
                float left = a[r * a_row + k * a_inner];                                \
                for (int v = 0; v < VECTORS; v++) sum[r][v] += left * right[v];         \
            }                                                                           \
        }                                                                               \
        for (int r = 0; r < ROWS; r++)                                                  \
            for (int v = 0; v < VECTORS; v++)                                           \
                store(c + r * c_row + v * LANES, sum[r][v]);                            \
    }
BLOCK(8, 1)
BLOCK(4, 1)
BLOCK(1, 1)
BLOCK(8, 2)
BLOCK(4, 2)
BLOCK(1, 2)

/* All rows, eight or four at once. The last ones are computed once more rather than one
   by one: the same numbers, sooner. */
#define STRIP(VECTORS)                                                                  \
    INLINE void strip_##VECTORS(int rows, int inner, const float *a, int64_t a_row,     \
                                int64_t a_inner, const float *b, int64_t b_row,         \
                                float *c, int64_t c_row) {                              \
        const int step = rows >= 8 ? 8 : rows >= 4 ? 4 : 1;                             \
        for (int next = 0; next < rows; next += step) {                                 \
            int r = next + step <= rows ? next : rows - step;                           \
            const float *from = a + r * a_row;                                          \
            float *to = c + r * c_row;                                                  \
            if (step == 8)                                                              \
                block_8_##VECTORS(inner, from, a_row, a_inner, b, b_row, to, c_row);    \
            else if (step == 4)                                                         \
                block_4_##VECTORS(inner, from, a_row, a_inner, b, b_row, to, c_row);    \
            else                                                                        \
                block_1_##VECTORS(inner, from, a_row, a_inner, b, b_row, to, c_row);    \
        }                                                                               \
    }
STRIP(1)
STRIP(2)

/* C (rows × columns) = A (rows × inner) · B (inner × columns), in whole vectors. */
static void product(int rows, int inner, int columns, const float *a, int64_t a_row,
                    int64_t a_inner, const float *b, int64_t b_row, float *c,
                    int64_t c_row) {
    int column = 0;
    for (; column + 2 * LANES <= columns; column += 2 * LANES)
        strip_2(rows, inner, a, a_row, a_inner, b + column, b_row, c + column, c_row);
    if (column < columns)
        strip_1(rows, inner, a, a_row, a_inner, b + column, b_row, c + column, c_row);
}

/* Write words (words × width) as columns, with zeros up to a whole vector. */
static void turn(const float *from, int64_t word, int words, int width, int padded,
                 float *to) {
    for (int first = 0; first < padded; first += LANES)
        for (int i = 0; i < width; i += LANES) {
            vec square[LANES];
            for (int j = 0; j < LANES; j++)
                square[j] = first + j < words ? load(from + (first + j) * word + i)
                                              : (vec){0};
            transpose(square);
            for (int j = 0; j < LANES; j++) store(to + (i + j) * padded + first, square[j]);
        }
}

/* What looking at each key costs: nothing, or everything where there is no word. */
static void prices(const Shape *shape, int64_t sentence, int padded, float *price) {
    for (int j = 0; j < padded; j++) {
        int word = j < shape->keys;
        if (word && shape->mask) word = shape->mask[sentence * shape->keys + j];
        price[j] = word ? 0 : -INFINITY;
    }
}

/* The scores of one query from `first` on, in units of e, less what looking costs. */
INLINE vec priced(const Shape *shape, const float *scores, const float *price, int query,
                  int first) {
    vec score = load(scores + first) * shape->scale + load(price + first);
    if (!shape->causal) return score;
    ivec place = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return choose(place + first > query, all(-INFINITY), score);
}

INLINE vec share_of(vec score, float total) {
    return choose(score == -INFINITY, (vec){0}, exp_of(score - total));
}

static void attend_head(const Shape *shape, const float *price, int padded, Head q,
                        Head k, Head v, Head out, float *totals) {
    float turned[LONGEST * LONGEST], weights[LONGEST * LONGEST];
    const int queries = shape->queries, keys = shape->keys, width = shape->width;
    turn(k.data, k.word, keys, width, padded, turned);
    product(queries, width, padded, q.data, q.word, 1, turned, padded, weights, padded);
    for (int i = 0; i < queries; i++) {
        float *row = weights + i * padded;
        vec most = all(-INFINITY), sum = {0};
        for (int j = 0; j < padded; j += LANES)
            most = larger(priced(shape, row, price, i, j), most);
        float highest = largest_of(most);
        for (int j = 0; j < padded; j += LANES) {
            vec share = share_of(priced(shape, row, price, i, j), highest);
            store(row + j, share);
            sum += share;
        }
        float total = sum_of(sum), by = 1.0f / total;
        for (int j = 0; j < padded; j += LANES) store(row + j, load(row + j) * by);
        totals[i] = highest + logf(total);
    }
    product(queries, keys, width, weights, padded, 1, v.data, v.word, out.data, out.word);
}

void attend(const Shape *shape, const Heads *q, const Heads *k, const Heads *v,
            const Heads *out, float *totals, int threads) {
    int padded = (shape->keys + LANES - 1) / LANES * LANES;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 4)
    for (int64_t sentence = 0; sentence < shape->sentences; sentence++) {
        float price[LONGEST];
        prices(shape, sentence, padded, price);
        for (int head = 0; head < shape->heads; head++)
            attend_head(shape, price, padded, one(q, sentence, head),
                        one(k, sentence, head), one(v, sentence, head),
                        one(out, sentence, head),
                        totals + (sentence * shape->heads + head) * shape->queries);
    }
}

static void attend_head_backward(const Shape *shape, const float *price, int padded,
                                 Head q, Head k, Head v, Head given,
                                 const float *totals, Head dq, Head dk, Head dv) {
    float turned[LONGEST * LONGEST], weights[LONGEST * LONGEST], slopes[LONGEST * LONGEST];
    const int queries = shape->queries, keys = shape->keys, width = shape->width;
    turn(k.data, k.word, keys, width, padded, turned);
    product(queries, width, padded, q.data, q.word, 1, turned, padded, weights, padded);
    turn(v.data, v.word, keys, width, padded, turned);
    product(queries, width, padded, given.data, given.word, 1, turned, padded, slopes,
            padded);
    for (int i = 0; i < queries; i++) {
        float *row = weights + i * padded, *slope = slopes + i * padded;
        vec along = {0};
        for (int j = 0; j < padded; j += LANES) {
            vec share = share_of(priced(shape, row, price, i, j), totals[i]);
            store(row + j, share);
            along += share * load(slope + j);
        }
        float mean = sum_of(along);
        for (int j = 0; j < padded; j += LANES)
            store(slope + j, load(row + j) * (load(slope + j) - mean) * shape->scale);
    }
    product(keys, queries, width, weights, 1, padded, given.data, given.word, dv.data,
            dv.word);
    product(queries, keys, width, slopes, padded, 1, k.data, k.word, dq.data, dq.word);
    product(keys, queries, width, slopes, 1, padded, q.data, q.word, dk.data, dk.word);
}

void attend_backward(const Shape *shape, const Heads *q, const Heads *k, const Heads *v,
                     const Heads *given, const float *totals, const Heads *dq,
                     const Heads *dk, const Heads *dv, int threads) {
    int padded = (shape->keys + LANES - 1) / LANES * LANES;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 4)
    for (int64_t sentence = 0; sentence < shape->sentences; sentence++) {
        float price[LONGEST];
        prices(shape, sentence, padded, price);
        for (int head = 0; head < shape->heads; head++)
            attend_head_backward(
                shape, price, padded, one(q, sentence, head), one(k, sentence, head),
                one(v, sentence, head), one(given, sentence, head),
                totals + (sentence * shape->heads + head) * shape->queries,
                one(dq, sentence, head), one(dk, sentence, head),
                one(dv, sentence, head));
    }
}
