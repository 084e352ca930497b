/* Scaled dot-product attention (§3.2.1) of short sentences, and its gradient.

   All heads of all sentences are small products, which a general library multiplies
   slowly: here one head's numbers stay in the nearest cache. Weights are not kept for
   the backward pass but computed again, from the sums that softmax divided by. */

#include "heads.h"

#define LONGEST 128 /* words of a sentence, and dimensions of a head */

typedef struct {
    int64_t sentences;
    int heads, queries, keys, width, causal;
    float scale;
    const uint8_t *mask; /* which keys are words (sentences × keys); NULL: all */
} Shape;

/* Rows at once, whose sums fill half of the registers or three quarters of them. */
#define MANY (REGISTERS == 32 ? 8 : 6)
#define FEW (REGISTERS == 32 ? 4 : 3)

/* C = A · B for some rows and some vectors of columns; A's numbers may lie anyhow. */
#define BLOCK(NAME, ROWS, VECTORS)                                                      \
    INLINE void NAME##_##VECTORS(                                                       \
        int inner, const float *a, int64_t a_row, int64_t a_inner, const float *b,      \
        int64_t b_row, float *c, int64_t c_row) {                                       \
        vec sum[ROWS][VECTORS];                                                         \
        for (int r = 0; r < ROWS; r++)                                                  \
            for (int v = 0; v < VECTORS; v++) sum[r][v] = (vec){0};                     \
        for (int k = 0; k < inner; k++) {                                               \
            vec right[VECTORS];                                                         \
            for (int v = 0; v < VECTORS; v++) right[v] = load(b + k * b_row + v * LANES);\
            for (int r = 0; r < ROWS; r++) {                                            \
                float left = a[r * a_row + k * a_inner];                                \
                for (int v = 0; v < VECTORS; v++) sum[r][v] += left * right[v];         \
            }                                                                           \
        }                                                                               \
        for (int r = 0; r < ROWS; r++)                                                  \
            for (int v = 0; v < VECTORS; v++)                                           \
                store(c + r * c_row + v * LANES, sum[r][v]);                            \
    }
BLOCK(many, MANY, 1)
BLOCK(few, FEW, 1)
BLOCK(one_row, 1, 1)
BLOCK(many, MANY, 2)
BLOCK(few, FEW, 2)
BLOCK(one_row, 1, 2)

/* All rows, many or few at once. The last ones are computed once more rather than one
   by one: the same numbers, sooner. */
#define STRIP(VECTORS)                                                                  \
    INLINE void strip_##VECTORS(int rows, int inner, const float *a, int64_t a_row,     \
                                int64_t a_inner, const float *b, int64_t b_row,         \
                                float *c, int64_t c_row) {                              \
        const int step = rows >= MANY ? MANY : rows >= FEW ? FEW : 1;                   \
        for (int next = 0; next < rows; next += step) {                                 \
            int r = next + step <= rows ? next : rows - step;                           \
            const float *from = a + r * a_row;                                          \
            float *to = c + r * c_row;                                                  \
            if (step == MANY)                                                           \
                many_##VECTORS(inner, from, a_row, a_inner, b, b_row, to, c_row);       \
            else if (step == FEW)                                                       \
                few_##VECTORS(inner, from, a_row, a_inner, b, b_row, to, c_row);        \
            else                                                                        \
                one_row_##VECTORS(inner, from, a_row, a_inner, b, b_row, to, c_row);    \
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
static void prices(const Shape *shape, int64_t sentence, float *price) {
    for (int j = 0; j < shape->keys; j++) {
        int word = !shape->mask || shape->mask[sentence * shape->keys + j];
        price[j] = word ? 0 : -INFINITY;
    }
}

/* The scores of one key with some queries, in units of e, less what looking costs. */
INLINE vec priced(const Shape *shape, const float *scores, const float *price, int key,
                  int first) {
    vec score = load(scores) * shape->scale + price[key];
    if (!shape->causal) return score;
    ivec place;
    for (int i = 0; i < LANES; i++) place[i] = i;
    return choose(place + first < key, all(-INFINITY), score);
}

INLINE vec share_of(vec score, vec highest) {
    return choose(score == -INFINITY, (vec){0}, exp_of(score - highest));
}

/* Scores turn into weights (key, query), a vector of queries side by side, and `totals` gets
   the logarithm of what each query's exponentials sum up to. */
INLINE void softmax(const Shape *shape, const float *price, int padded, float *weights,
                    float *totals) {
    for (int first = 0; first < padded; first += LANES) {
        float *column = weights + first;
        vec most = all(-INFINITY), sum = {0};
        for (int j = 0; j < shape->keys; j++)
            most = larger(priced(shape, column + j * padded, price, j, first), most);
        for (int j = 0; j < shape->keys; j++) {
            vec score = priced(shape, column + j * padded, price, j, first);
            vec share = share_of(score, most);
            store(column + j * padded, share);
            sum += share;
        }
        vec by = 1.0f / sum;
        for (int j = 0; j < shape->keys; j++)
            store(column + j * padded, load(column + j * padded) * by);
        for (int i = 0; i < LANES && first + i < shape->queries; i++)
            totals[first + i] = most[i] + logf(sum[i]);
    }
}

/* The same weights again, and in place of their gradients those of the scores. */
INLINE void softmax_backward(const Shape *shape, const float *price, int padded,
                             const float *totals, float *weights, float *slopes) {
    float filled[LONGEST] = {0};
    memcpy(filled, totals, shape->queries * sizeof(float));
    for (int first = 0; first < padded; first += LANES) {
        vec total = load(filled + first), mean = {0};
        for (int j = 0; j < shape->keys; j++) {
            float *weight = weights + j * padded + first;
            vec share = share_of(priced(shape, weight, price, j, first), total);
            store(weight, share);
            mean += share * load(slopes + j * padded + first);
        }
        for (int j = 0; j < shape->keys; j++) {
            float *slope = slopes + j * padded + first;
            vec share = load(weights + j * padded + first);
            store(slope, share * (load(slope) - mean) * shape->scale);
        }
    }
}

static void attend_head(const Shape *shape, const float *price, int padded, Head q,
                        Head k, Head v, Head out, float *totals) {
    float turned[LONGEST * LONGEST], weights[LONGEST * LONGEST];
    const int queries = shape->queries, keys = shape->keys, width = shape->width;
    turn(q.data, q.word, queries, width, padded, turned);
    product(keys, width, padded, k.data, k.word, 1, turned, padded, weights, padded);
    softmax(shape, price, padded, weights, totals);
    product(queries, keys, width, weights, 1, padded, v.data, v.word, out.data, out.word);
}

/* Ask for the next sentence's numbers while this one's are at work. */
INLINE void fetch(const Heads *of, int64_t sentence, int head, int words, int width) {
    Head next = one(of, sentence, head);
    for (int i = 0; i < words; i++)
        for (int j = 0; j < width; j += LANES)
            __builtin_prefetch(next.data + i * next.word + j);
}

void attend(const Shape *shape, const Heads *q, const Heads *k, const Heads *v,
            const Heads *out, float *totals, int threads) {
    int padded = (shape->queries + LANES - 1) / LANES * LANES;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 8)
    for (int64_t sentence = 0; sentence < shape->sentences; sentence++) {
        float price[LONGEST];
        prices(shape, sentence, price);
        for (int head = 0; head < shape->heads; head++) {
            if (sentence + 1 < shape->sentences) {
                fetch(q, sentence + 1, head, shape->queries, shape->width);
                fetch(k, sentence + 1, head, shape->keys, shape->width);
                fetch(v, sentence + 1, head, shape->keys, shape->width);
            }
            attend_head(shape, price, padded, one(q, sentence, head),
                        one(k, sentence, head), one(v, sentence, head),
                        one(out, sentence, head),
                        totals + (sentence * shape->heads + head) * shape->queries);
        }
    }
}

static void attend_head_backward(const Shape *shape, const float *price, int padded,
                                 Head q, Head k, Head v, Head given,
                                 const float *totals, Head dq, Head dk, Head dv) {
    float turned[LONGEST * LONGEST], weights[LONGEST * LONGEST], slopes[LONGEST * LONGEST];
    const int queries = shape->queries, keys = shape->keys, width = shape->width;
    turn(q.data, q.word, queries, width, padded, turned);
    product(keys, width, padded, k.data, k.word, 1, turned, padded, weights, padded);
    turn(given.data, given.word, queries, width, padded, turned);
    product(keys, width, padded, v.data, v.word, 1, turned, padded, slopes, padded);
    softmax_backward(shape, price, padded, totals, weights, slopes);
    product(keys, queries, width, weights, padded, 1, given.data, given.word, dv.data,
            dv.word);
    product(queries, keys, width, slopes, 1, padded, k.data, k.word, dq.data, dq.word);
    product(keys, queries, width, slopes, padded, 1, q.data, q.word, dk.data, dk.word);
}

void attend_backward(const Shape *shape, const Heads *q, const Heads *k, const Heads *v,
                     const Heads *given, const float *totals, const Heads *dq,
                     const Heads *dk, const Heads *dv, int threads) {
    int padded = (shape->queries + LANES - 1) / LANES * LANES;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 8)
    for (int64_t sentence = 0; sentence < shape->sentences; sentence++) {
        float price[LONGEST];
        prices(shape, sentence, price);
        for (int head = 0; head < shape->heads; head++) {
            attend_head_backward(
                shape, price, padded, one(q, sentence, head), one(k, sentence, head),
                one(v, sentence, head), one(given, sentence, head),
                totals + (sentence * shape->heads + head) * shape->queries,
                one(dq, sentence, head), one(dk, sentence, head),
                one(dv, sentence, head));
        }
    }
}
