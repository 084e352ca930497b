/* The product of two matrices, either of which may lie transposed. The right one is laid
   out in panels beforehand (block of inner rows, panel, inner row, column), a left one that
   lies transposed as it comes. Each number is summed block by block, in one order whatever
   the threads. */

#include "product.h"

#define DEEP 128 /* inner rows at once: a panel of them stays in the nearest cache */
#define TALL 96  /* rows at once, in whole blocks of ROWS */
#define MANY 4   /* parts for each thread that are worth being shared out one by one */

typedef struct {
    const float *at;
    int64_t row, column; /* how far it is to the next one; either is 1 */
} Matrix;

INLINE int smaller(int a, int b) { return a < b ? a : b; }

/* Sixteen inner rows and columns of a panel; where the matrix ends, zeros follow. */
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
    int count = (columns + PANEL - 1) / PANEL;
#pragma omp parallel for num_threads(threads) schedule(static) collapse(2)
    for (int first = 0; first < depth; first += DEEP)
        for (int number = 0; number < count; number++) {
            int deep = smaller(DEEP, depth - first);
            float *panel = panels + ((int64_t)first * count + (int64_t)number * deep) * PANEL;
            lay_out_panel((Matrix){b->at + first * b->row, b->row, b->column}, deep, number,
                          columns, panel);
        }
}

/* Rows of a left matrix that lies transposed: (block of rows, inner row, row). */
static void lay_out_rows(Matrix a, int rows, int deep, float *to) {
    for (int row = 0; row < rows; row += ROWS)
        for (int k = 0; k < deep; k++, to += ROWS) {
            const float *from = a.at + k * a.column + row;
            if (rows - row >= ROWS)
                memcpy(to, from, ROWS * sizeof(float));
            else
                memcpy(to, from, (rows - row) * sizeof(float));
        }
}

static void add_to_sums(Matrix a, int rows, int deep, float *sums) {
    if (a.row == 1)
        for (int k = 0; k < deep; k++)
            for (int row = 0; row < rows; row++) sums[row] += a.at[k * a.column + row];
    else
        for (int row = 0; row < rows; row++)
            for (int k = 0; k < deep; k++) sums[row] += a.at[row * a.row + k];
}

/* Ask for numbers before they are needed. */
INLINE void fetch(const float *at, int64_t row, int rows, int columns) {
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < columns; i += LANES) __builtin_prefetch(at + r * row + i);
}

/* What a block of inner rows gives to some rows of c, and to the sums of a's. */
static void block_product(Matrix a, const Map *map, float *c, float *sums, int rows,
                          int how) {
    float laid_out[TALL * DEEP];
    int64_t next = a.row * ROWS;
    if (sums) add_to_sums(a, rows, map->inputs, sums);
    if (a.column != 1) {
        lay_out_rows(a, rows, map->inputs, laid_out);
        a = (Matrix){laid_out, 1, ROWS};
        next = (int64_t)map->inputs * ROWS;
    }
    for (int number = 0; number < panels_of(map); number++)
        for (int row = 0; row < rows; row += ROWS) {
            const float *from = a.at + row / ROWS * next;
            float *to = c + (int64_t)row * map->outputs;
            int some = smaller(ROWS, rows - row);
            fetch(to + number * PANEL, map->outputs, some, PANEL);
            if (number == 0 && a.column == 1)
                fetch(from + next, a.row, smaller(ROWS, rows - row - some), map->inputs);
            product_panel(map, number, from, a.row, a.column, to, map->outputs, some, how);
        }
}

/* c = ab + bias, or c += ab. The bias is padded to whole panels, or NULL. Where there is
   room for the sums of a's rows, it comes zeroed. */
void matrix_product(const Matrix *a, const float *panels, const float *bias, float *c,
                    float *sums, int rows, int depth, int columns, int added,
                    int threads) {
    int count = (columns + PANEL - 1) / PANEL;
    int64_t blocks = (rows + ROWS - 1) / ROWS;
    int many = rows >= MANY * TALL * threads; /* then whoever is free takes the next part */
    int parts = many ? (rows + TALL - 1) / TALL : threads;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int part = 0; part < parts; part++) {
        int end = smaller(rows, blocks * (part + 1) / parts * ROWS);
        for (int top = blocks * part / parts * ROWS; top < end; top += TALL)
            for (int k = 0; k == 0 || k < depth; k += DEEP) { /* an empty sum is 0 */
                const float *at = a->at + top * a->row + k * a->column;
                Map map = {panels + (int64_t)k * count * PANEL, k ? NULL : bias,
                           smaller(DEEP, depth - k), columns};
                block_product((Matrix){at, a->row, a->column}, &map,
                              c + (int64_t)top * columns, sums ? sums + top : NULL,
                              smaller(TALL, end - top), added || k ? ADDED : PLAIN);
            }
    }
}

/* c = aᵀb where c is small, and the sums of a's columns, which come zeroed: each thread lays
   out the inner rows for itself as it comes to them. `room` holds DEEP rows for each. */
void small_transposed_product(const Matrix *a, const Matrix *b, float *c, float *sums,
                              int depth, int rows, int columns, float *room, int threads) {
    int count = (columns + PANEL - 1) / PANEL;
    int64_t blocks = (rows + ROWS - 1) / ROWS;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int part = 0; part < threads; part++) {
        int first = blocks * part / threads * ROWS;
        int end = smaller(rows, blocks * (part + 1) / threads * ROWS);
        float *panels = room + (int64_t)part * DEEP * count * PANEL;
        for (int k = 0; k == 0 || k < depth; k += DEEP) {
            Map map = {panels, NULL, smaller(DEEP, depth - k), columns};
            for (int number = 0; number < count; number++)
                lay_out_panel((Matrix){b->at + k * b->row, b->row, b->column}, map.inputs,
                              number, columns, panels + number * map.inputs * PANEL);
            for (int top = first; top < end; top += TALL) {
                const float *at = a->at + k * a->row + top * a->column;
                block_product((Matrix){at, a->column, a->row}, &map,
                              c + (int64_t)top * columns, sums + top,
                              smaller(TALL, end - top), k ? ADDED : PLAIN);
            }
        }
    }
}

int inner_rows_at_once(void) { return DEEP; }
