/* One step of a Transformer's decoder (§3.1): the newest token of each row goes through
   all layers. It does what `DecoderLayer.step` does, without coming back in between. */

#include "heads.h"
#include "norm.h"
#include "product.h"

/* The header of these is not with every compiler. */
int omp_get_thread_num(void);
int omp_get_num_threads(void);

#define FEW 8 /* rows for each thread: below, threads share panels instead of rows, */
#define WORTH_SHARING (1 << 19) /* unless a product is over before they could meet */

typedef struct {
    const float *gain, *bias; /* no norm here: NULL */
} Norm;

typedef struct {
    Map projections, self_output, queries, cross_output, inner, outer;
    Norm around_self_attention, around_cross_attention, around_feed_forward;
} Layer;

typedef struct {
    const Layer *layers;
    Norm last;
    int num_layers, num_heads, d_head, d_model, d_ff, pre_norm;
    float epsilon, scale;
} Decoder;

/* What the rows look at. Keys and values of the target are (2 · layer, sentence, head,
   place, d_head); those of the source have a place for each layer's keys and values,
   and their own steps between sentences, heads and words. */
typedef struct {
    float *target;
    const float *const *source;
    const uint8_t *visible, *words;   /* (row, place) and (sentence, word) */
    const int64_t *sentences, *spots; /* of each row: its own, and where it stands there */
    const float *cosines, *sines; /* by which queries and keys are turned, or NULL */
    int64_t num_sentences, capacity, sentence_step, head_step, word_step;
    int rows, places, num_words, width; /* the newest `width` places are written now */
} Past;

/* What is computed on the way, row by row. */
typedef struct {
    float *x, *normed, *joint, *heads, *hidden, *weights;
    int32_t *seen, *num_seen, *heard, *num_heard; /* places and words of each row */
} Work;

/* The rows of a thread, and its part of what threads with the same rows share. */
typedef struct {
    int first, last, part, parts;
} Share;

INLINE void meet(const Share *share) {
    if (share->parts > 1) {
#pragma omp barrier
    }
}

static void multiply(const Map *map, const float *x, int64_t x_row, float *y,
                     int64_t y_row, int how, const Share *share) {
    int rows = share->last - share->first;
    const float *from = x + share->first * x_row;
    for (int number = share->part; number < panels_of(map); number += share->parts)
        product_panel(map, number, from, x_row, 1, y + share->first * y_row, y_row, rows,
                      how);
    meet(share);
}

static void normalize(const Decoder *decoder, const Norm *norm, const float *x, float *to,
                      const Share *share) {
    int width = decoder->d_model;
    for (int64_t row = share->first + share->part; row < share->last; row += share->parts)
        norm_row(x + row * width, norm->gain, norm->bias, decoder->epsilon, width,
                 to + row * width);
    meet(share);
}

/* softmax(qKᵀ) V over the places in a list; `weights` has room for them and a vector. */
static void attend(const float *query, const float *keys, const float *values,
                   int64_t step, const int32_t *list, int count, int width, float scale,
                   float *weights, float *head) {
    float most = -INFINITY;
    for (int i = 0; i < count; i++) {
        const float *key = keys + list[i] * step;
        vec sum = {0};
        for (int d = 0; d < width; d += LANES) sum += load(query + d) * load(key + d);
        weights[i] = scale * sum_of(sum);
        most = weights[i] > most ? weights[i] : most;
    }
    store(weights + count, all(-INFINITY));
    vec total = {0};
    for (int i = 0; i < count; i += LANES) {
        vec share = exp_of(load(weights + i) - most);
        store(weights + i, share);
        total += share;
    }
    float by = 1.0f / sum_of(total);
    for (int d = 0; d < width; d += LANES) {
        vec sum = {0};
        for (int i = 0; i < count; i++) sum += weights[i] * load(values + list[i] * step + d);
        store(head + d, sum * by);
    }
}

static void self_attention(const Decoder *decoder, int layer, const Past *past,
                           const Work *work, const Share *share) {
    int heads = decoder->num_heads, width = decoder->d_head, inner = heads * width;
    int64_t head_step = past->capacity * width;
    int64_t layer_step = past->num_sentences * heads * head_step;
    float *all_keys = past->target + 2 * layer * layer_step;
    float *all_values = all_keys + layer_step;
    for (int item = share->first * heads + share->part; item < share->last * heads;
         item += share->parts) {
        int row = item / heads, head = item % heads;
        int64_t begin = (past->sentences[row] * heads + head) * head_step;
        float *keys = all_keys + begin, *values = all_values + begin;
        float *joint = work->joint + (int64_t)row * 3 * inner + head * width;
        if (past->cosines)
            for (int part = 0; part < 2; part++)
                turn_word(joint + part * inner, past->cosines, past->sines, width,
                          joint + part * inner);
        int64_t own = past->places - past->width + past->spots[row] % past->width;
        memcpy(keys + own * width, joint + inner, width * sizeof(float));
        memcpy(values + own * width, joint + 2 * inner, width * sizeof(float));
        attend(joint, keys, values, width, work->seen + (int64_t)row * past->places,
               work->num_seen[row], width, decoder->scale, work->weights,
               work->heads + (int64_t)row * inner + head * width);
    }
    meet(share);
}

static void cross_attention(const Decoder *decoder, int layer, const Past *past,
                            const Work *work, const Share *share) {
    int heads = decoder->num_heads, width = decoder->d_head, inner = heads * width;
    const float *all_keys = past->source[2 * layer];
    const float *all_values = past->source[2 * layer + 1];
    for (int item = share->first * heads + share->part; item < share->last * heads;
         item += share->parts) {
        int row = item / heads, head = item % heads;
        int64_t begin = past->sentences[row] * past->sentence_step + head * past->head_step;
        attend(work->joint + (int64_t)row * 3 * inner + head * width, all_keys + begin,
               all_values + begin, past->word_step,
               work->heard + (int64_t)row * past->num_words, work->num_heard[row], width,
               decoder->scale, work->weights,
               work->heads + (int64_t)row * inner + head * width);
    }
    meet(share);
}

static int list_of(const uint8_t *mask, int count, int32_t *list) {
    int found = 0;
    for (int i = 0; i < count; i++)
        if (mask[i]) list[found++] = i;
    return found;
}

static void look_around(const Past *past, const Work *work, const Share *share) {
    for (int64_t row = share->first + share->part; row < share->last; row += share->parts) {
        work->num_seen[row] = list_of(past->visible + row * past->places, past->places,
                                      work->seen + row * past->places);
        work->num_heard[row] =
            list_of(past->words + past->sentences[row] * past->num_words, past->num_words,
                    work->heard + row * past->num_words);
    }
    meet(share);
}

/* What a sublayer reads, before it; and the norm after it. */
static const float *before(const Decoder *decoder, const Norm *norm, const Work *work,
                           const Share *share) {
    if (!decoder->pre_norm) return work->x;
    normalize(decoder, norm, work->x, work->normed, share);
    return work->normed;
}

static void after(const Decoder *decoder, const Norm *norm, const Work *work,
                  const Share *share) {
    if (!decoder->pre_norm) normalize(decoder, norm, work->x, work->x, share);
}

static void layer_step(const Decoder *decoder, int number, const Past *past,
                       const Work *work, const Share *share) {
    const Layer *layer = decoder->layers + number;
    int wide = decoder->d_model, inner = decoder->num_heads * decoder->d_head;
    const Norm *norm = &layer->around_self_attention;
    const float *read = before(decoder, norm, work, share);
    multiply(&layer->projections, read, wide, work->joint, 3 * inner, PLAIN, share);
    self_attention(decoder, number, past, work, share);
    multiply(&layer->self_output, work->heads, inner, work->x, wide, ADDED, share);
    after(decoder, norm, work, share);

    norm = &layer->around_cross_attention;
    read = before(decoder, norm, work, share);
    multiply(&layer->queries, read, wide, work->joint, 3 * inner, PLAIN, share);
    cross_attention(decoder, number, past, work, share);
    multiply(&layer->cross_output, work->heads, inner, work->x, wide, ADDED, share);
    after(decoder, norm, work, share);

    norm = &layer->around_feed_forward;
    read = before(decoder, norm, work, share);
    multiply(&layer->inner, read, wide, work->hidden, decoder->d_ff, RECTIFIED, share);
    multiply(&layer->outer, work->hidden, decoder->d_ff, work->x, wide, ADDED, share);
    after(decoder, norm, work, share);
}

static void all_layers(const Decoder *decoder, const Past *past, const Work *work,
                       const Share *share) {
    look_around(past, work, share);
    for (int number = 0; number < decoder->num_layers; number++)
        layer_step(decoder, number, past, work, share);
    if (decoder->last.gain) normalize(decoder, &decoder->last, work->x, work->x, share);
}

/* `x` (row, d_model) comes as embedded tokens and goes as what is to be projected.
   `room` holds, for each row, d_model + 4 · inner + d_ff floats and for each thread
   places + words + LANES; `lists` holds places + words + 2 integers for each row. */
void decoder_step(const Decoder *decoder, const Past *past, float *x, float *room,
                  int32_t *lists, int threads) {
    int64_t rows = past->rows, inner = decoder->num_heads * decoder->d_head;
    Work all = {.x = x, .normed = room, .joint = room + rows * decoder->d_model};
    all.heads = all.joint + rows * 3 * inner;
    all.hidden = all.heads + rows * inner;
    all.weights = all.hidden + rows * decoder->d_ff;
    all.seen = lists;
    all.heard = all.seen + rows * past->places;
    all.num_seen = all.heard + rows * past->num_words;
    all.num_heard = all.num_seen + rows;
    int by_rows = rows >= FEW * threads;
    int64_t work_of_a_map = rows * decoder->d_model * decoder->d_model;
    if (!by_rows && work_of_a_map < WORTH_SHARING) threads = 1;
#pragma omp parallel num_threads(threads)
    {
        int part = omp_get_thread_num(), parts = omp_get_num_threads();
        Share share = {0, rows, part, parts};
        if (by_rows)
            share = (Share){rows * part / parts, rows * (part + 1) / parts, 0, 1};
        Work own = all;
        own.weights += (int64_t)part * (past->places + past->num_words + LANES);
        all_layers(decoder, past, &own, &share);
    }
}
