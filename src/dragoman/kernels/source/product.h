/* Products of rows with a matrix, kept in panels of so many outputs each: (panel, input,
   output). Each number is summed over the inputs in their order, whatever rows are
   multiplied with it: company changes no bit. */

#ifndef DRAGOMAN_PRODUCT_H
#define DRAGOMAN_PRODUCT_H

#include "vectors.h"

/* Six rows at once and so many vectors of outputs fill the registers with their sums. */
#define ROWS 6
#define VECTORS (REGISTERS == 32 ? 4 : 2)
#define PANEL (VECTORS * LANES)

typedef struct {
    const float *panels, *bias; /* padded to whole panels; no bias: NULL */
    int inputs, outputs;
} Map;

enum { PLAIN, RECTIFIED, ADDED };

#define MULTIPLY(N)                                                                     \
    INLINE void multiply_##N(int inputs, const float *x, int64_t x_row, int64_t x_step, \
                             const float *panel, vec sum[ROWS][VECTORS]) {              \
        vec part[N][VECTORS];                                                           \
        for (int r = 0; r < N; r++)                                                     \
            for (int v = 0; v < VECTORS; v++) part[r][v] = (vec){0};                    \
        for (int k = 0; k < inputs; k++) {                                              \
            vec right[VECTORS];                                                         \
            for (int v = 0; v < VECTORS; v++)                                           \
                right[v] = load(panel + (int64_t)k * PANEL + v * LANES);                \
            for (int r = 0; r < N; r++) {                                               \
                float left = x[r * x_row + k * x_step];                                 \
                for (int v = 0; v < VECTORS; v++) part[r][v] += left * right[v];        \
            }                                                                           \
        }                                                                               \
        for (int r = 0; r < N; r++)                                                     \
            for (int v = 0; v < VECTORS; v++) sum[r][v] = part[r][v];                   \
    }
MULTIPLY(1)
MULTIPLY(2)
MULTIPLY(3)
MULTIPLY(4)
MULTIPLY(5)
MULTIPLY(6)

INLINE vec finished(vec sum, const float *bias, const float *before, int how) {
    if (bias) sum += load(bias);
    if (how == RECTIFIED) sum = larger(sum, (vec){0});
    if (how == ADDED) sum += load(before);
    return sum;
}

INLINE int panels_of(const Map *map) { return (map->outputs + PANEL - 1) / PANEL; }

/* What becomes of some rows and one panel: y = xW + b, rectified, or added to y. It is
   so far from one row of x to the next, and from one input. */
static inline void product_panel(const Map *map, int number, const float *x, int64_t x_row,
                                 int64_t x_step, float *y, int64_t y_row, int rows,
                                 int how) {
    const float *panel = map->panels + (int64_t)number * map->inputs * PANEL;
    const float *bias = map->bias ? map->bias + number * PANEL : NULL;
    int first = number * PANEL, width = map->outputs - first;
    for (int row = 0; row < rows; row += ROWS) {
        vec sum[ROWS][VECTORS];
        int some = rows - row < ROWS ? rows - row : ROWS;
        const float *from = x + row * x_row;
        switch (some) {
        case 6: multiply_6(map->inputs, from, x_row, x_step, panel, sum); break;
        case 5: multiply_5(map->inputs, from, x_row, x_step, panel, sum); break;
        case 4: multiply_4(map->inputs, from, x_row, x_step, panel, sum); break;
        case 3: multiply_3(map->inputs, from, x_row, x_step, panel, sum); break;
        case 2: multiply_2(map->inputs, from, x_row, x_step, panel, sum); break;
        default: multiply_1(map->inputs, from, x_row, x_step, panel, sum);
        }
        for (int r = 0; r < some; r++) {
            float *to = y + (row + r) * y_row + first;
            if (width >= PANEL) {
                for (int v = 0; v < VECTORS; v++)
                    store(to + v * LANES, finished(sum[r][v], bias ? bias + v * LANES : NULL,
                                                   to + v * LANES, how));
                continue;
            }
            float last[PANEL] = {0};
            memcpy(last, to, width * sizeof(float));
            for (int v = 0; v < VECTORS; v++)
                store(last + v * LANES, finished(sum[r][v], bias ? bias + v * LANES : NULL,
                                                 last + v * LANES, how));
            memcpy(to, last, width * sizeof(float));
        }
    }
}

#endif
