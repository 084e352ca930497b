/* The product of two matrices, either of which may lie transposed. The right one is laid
   out in panels beforehand (block of inner rows, panel, inner row, column), a left one that
   lies transposed as it comes. Each number is summed block by block, in one order whatever
   the threads. */

#include "product.h"

int omp_get_thread_num(void); /* whose header not every compiler brings along */

#define DEEP 128 /* inner rows at once: a panel of them stays in the nearest cache */
#define TALL 96  /* rows at once, in whole blocks of ROWS */
#define HALF 8   /* of a vector */
#define MANY 4   /* parts for each thread that are worth being shared out one by one */

typedef float half __attribute__((vector_size(HALF * sizeof(float)), aligned(4), may_alias));

typedef struct {
    const float *at;
    int64_t row, column; /* how far it is to the next one; either is 1 */
} Matrix;

INLINE int smaller(int a, int b) { return a < b ? a : b; }
INLINE int times_in(int size, int whole) { return (whole + size - 1) / size; }
INLINE Matrix rest(const Matrix *a, int64_t row, int64_t column) {
    return (Matrix){a->at + row * a->row + column * a->column, a->row, a->column};
}
INLINE Matrix transposed(Matrix a) { return (Matrix){a.at, a.column, a.row}; }

/* As many inner rows and columns of a panel as a vector has numbers; where the matrix ends, zeros follow. */
static void lay_out_square(Matrix b, int deep, int wide, float *to) {
    if (deep < LANES || wide < LANES) {
        for (int k = 0; k < smaller(deep, LANES); k++)
            for (int i = 0; i < LANES; i++)
                to[k * PANEL + i] = i < wide ? b.at[k * b.row + i * b.column] : 0;
        return;
    }
    int turned = b.column != 1;
    vec square[LANES];
    for (int i = 0; i < LANES; i++) square[i] = load(b.at + i * (turned ? b.column : b.row));
    if (turned) transpose(square);
    for (int i = 0; i < LANES; i++) store(to + i * PANEL, square[i]);
}

/* So many inner rows of one panel's columns. */
static void lay_out_panel(Matrix b, int deep, int number, int columns, float *panel) {
    for (int k = 0; k < deep; k += LANES)
        for (int i = 0; i < PANEL; i += LANES) {
            int column = number * PANEL + i;
            const float *at = b.at + k * b.row + column * b.column;
            lay_out_square((Matrix){at, b.row, b.column}, deep - k, columns - column,
                           panel + k * PANEL + i);
        }
}

void lay_out(const Matrix *b, int depth, int columns, float *panels, int threads) {
    int count = times_in(PANEL, columns);
#pragma omp parallel for num_threads(threads) schedule(static) collapse(2)
    for (int first = 0; first < depth; first += DEEP)
        for (int number = 0; number < count; number++) {
            int deep = smaller(DEEP, depth - first);
            float *panel = panels + ((int64_t)first * count + (int64_t)number * deep) * PANEL;
            lay_out_panel(rest(b, first, 0), deep, number, columns, panel);
        }
}

/* Rows of a left matrix that lies transposed: (block of rows, inner row, row). Eight are
   copied where six are wanted: what comes next overwrites the others. */
static void lay_out_rows(Matrix a, int rows, int deep, float *to, float *sums) {
    for (int row = 0; row < rows; row += ROWS, to += deep * ROWS) {
        const float *from = a.at + row;
        half sum = {0};
        if (rows - row < HALF) {
            int some = smaller(ROWS, rows - row);
            for (int k = 0; k < deep; k++)
                for (int r = 0; r < some; r++)
                    sum[r] += to[k * ROWS + r] = from[k * a.column + r];
        } else
            for (int k = 0; k < deep; k++) {
                half some = *(const half *)(from + k * a.column);
                *(half *)(to + k * ROWS) = some;
                sum += some;
            }
        for (int r = 0; sums && r < smaller(ROWS, rows - row); r++) sums[row + r] += sum[r];
    }
}

static void add_to_sums(Matrix a, int rows, int deep, float *sums) {
    for (int row = 0; row < rows; row++)
        for (int k = 0; k < deep; k++) sums[row] += a.at[row * a.row + k];
}

/* Ask for numbers before they are needed. */
INLINE void fetch(const float *at, int64_t row, int rows, int columns) {
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < columns; i += LANES) __builtin_prefetch(at + r * row + i);
}

/* What will be read next, asked for a little at a time while something else is computed. */
typedef struct {
    const float *at;
    int64_t line; /* how far it is from where one line begins to where the next does */
    int lines, length, reached, each; /* `each` pieces of LANES numbers are asked for at once */
} Ahead;

/* So many rows of so many inner ones, spread over so many times of asking. */
INLINE Ahead ahead(Matrix a, int rows, int deep, int times) {
    int turned = a.row == 1;
    int lines = turned ? deep : rows, length = turned ? rows : deep;
    int parts = lines * ((length + LANES - 1) / LANES);
    return (Ahead){a.at, turned ? a.column : a.row, lines, length, 0, parts / times + 1};
}

INLINE void look(Ahead *next) {
    for (int i = 0; i < next->each && next->lines > 0; i++) {
        __builtin_prefetch(next->at + next->reached, 0, 2);
        next->reached += LANES;
        if (next->reached < next->length) continue;
        next->reached = 0;
        next->at += next->line;
        next->lines--;
    }
}

/* What a block of inner rows gives to some rows of c, and to the sums of a's. */
static void block_product(Matrix a, const Map *map, float *c, float *sums, int rows,
                          int how, Ahead *next) {
    float laid_out[TALL * DEEP];
    int64_t step = a.row * ROWS;
    if (sums && a.column == 1) add_to_sums(a, rows, map->inputs, sums);
    if (a.column != 1) {
        lay_out_rows(a, rows, map->inputs, laid_out, sums);
        a = (Matrix){laid_out, 1, ROWS};
        step = (int64_t)map->inputs * ROWS;
    }
    for (int number = 0; number < panels_of(map); number++)
        for (int row = 0; row < rows; row += ROWS) {
            const float *from = a.at + row / ROWS * step;
            float *to = c + (int64_t)row * map->outputs;
            int some = smaller(ROWS, rows - row);
            fetch(to + number * PANEL, map->outputs, some, PANEL);
            if (number == 0 && a.column == 1)
                fetch(from + step, a.row, smaller(ROWS, rows - row - some), map->inputs);
            if (next) look(next);
            product_panel(map, number, from, a.row, a.column, to, map->outputs, some, how);
        }
}

/* c = ab + bias, or c += ab. The bias is padded to whole panels, or NULL. Where there is
   room for the sums of a's rows, it comes zeroed. */
void matrix_product(const Matrix *a, const float *panels, const float *bias, float *c,
                    float *sums, int rows, int depth, int columns, int added,
                    int threads) {
    int count = times_in(PANEL, columns);
    int64_t blocks = times_in(ROWS, rows);
    int many = rows >= MANY * TALL * threads; /* then whoever is free takes the next part */
    int parts = many ? times_in(TALL, rows) : threads;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int part = 0; part < parts; part++) {
        int end = smaller(rows, blocks * (part + 1) / parts * ROWS);
        for (int top = blocks * part / parts * ROWS; top < end; top += TALL)
            for (int k = 0; k == 0 || k < depth; k += DEEP) { /* an empty sum is 0 */
                Map map = {panels + (int64_t)k * count * PANEL, k ? NULL : bias,
                           smaller(DEEP, depth - k), columns};
                block_product(rest(a, top, k), &map, c + (int64_t)top * columns,
                              sums ? sums + top : NULL, smaller(TALL, end - top),
                              added || k ? ADDED : PLAIN, NULL);
            }
    }
}

/* Rows are summed in so many groups, whatever the threads. */
#define GROUPS 8
int groups_of_rows(void) { return GROUPS; }
int rows_laid_out_at_once(void) { return TALL; }

/* What some rows of a gradient g of a linear map teach its weights, gᵀx, and its bias. */
static void learn_from_rows(Matrix g, Matrix x, int rows, int outputs, int inputs,
                            float *laid_out, float *learned, float *sums, int how) {
    Map map = {laid_out, NULL, rows, inputs};
    Ahead next = ahead(rest(&g, rows, 0), TALL, outputs,
                       times_in(ROWS, outputs) * panels_of(&map));
    for (int number = 0; number < panels_of(&map); number++)
        lay_out_panel(x, rows, number, inputs, laid_out + number * rows * PANEL);
    for (int top = 0; top < outputs; top += TALL)
        block_product(transposed(rest(&g, 0, top)), &map, learned + (int64_t)top * inputs,
                      sums + top, smaller(TALL, outputs - top), how, &next);
}

/* What they give to the map's inputs, gW. */
static void give_to_rows(Matrix g, Matrix x, const float *panels, int rows, int outputs,
                         int inputs, float *given) {
    int count = times_in(PANEL, inputs);
    Ahead next = ahead(rest(&x, rows, 0), TALL, inputs,
                       times_in(ROWS, rows) * count * times_in(DEEP, outputs));
    for (int k = 0; k < outputs; k += DEEP) {
        Map map = {panels + (int64_t)k * count * PANEL, NULL, smaller(DEEP, outputs - k),
                   inputs};
        block_product(rest(&g, 0, k), &map, given, NULL, rows, k ? ADDED : PLAIN, &next);
    }
}

/* The backward pass of a linear map with few weights, some rows at a time, while they are
   in the nearest caches. `others` is room for what all groups but the first teach the
   weights, `sums` for all groups' sums: it comes zeroed, and its first row gets the total.
   `room` holds TALL rows of x for each thread. */
void linear_backward(const Matrix *g, const Matrix *x, const float *panels, float *given,
                     float *learned, float *others, float *sums, int rows, int outputs,
                     int inputs, float *room, int threads) {
    int64_t blocks = times_in(ROWS, rows), weights = (int64_t)outputs * inputs;
#pragma omp parallel num_threads(threads)
    {
        int width = times_in(PANEL, inputs) * PANEL;
        float *laid_out = room + (int64_t)omp_get_thread_num() * TALL * width;
#pragma omp for schedule(dynamic)
        for (int group = 0; group < GROUPS; group++) {
            int first = blocks * group / GROUPS * ROWS;
            int end = smaller(rows, blocks * (group + 1) / GROUPS * ROWS);
            float *here = group ? others + (group - 1) * weights : learned;
            if (first >= end) memset(here, 0, weights * sizeof(float));
            for (int row = first; row < end; row += TALL) {
                int some = smaller(TALL, end - row);
                learn_from_rows(rest(g, row, 0), rest(x, row, 0), some, outputs, inputs,
                                laid_out, here, sums + group * outputs,
                                row > first ? ADDED : PLAIN);
                give_to_rows(rest(g, row, 0), rest(x, row, 0), panels, some, outputs,
                             inputs, given + (int64_t)row * inputs);
            }
        }
#pragma omp for schedule(static)
        for (int output = 0; output < outputs; output++)
            for (int group = 1; group < GROUPS; group++) {
                float *total = learned + (int64_t)output * inputs;
                const float *more = others + (group - 1) * weights + (total - learned);
                for (int i = 0; i < inputs; i++) total[i] += more[i];
                sums[output] += sums[group * outputs + output];
            }
    }
}
