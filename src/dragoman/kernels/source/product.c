/* The product of some rows with a matrix in panels. */

#include "product.h"

int panel_width(void) { return PANEL; }

#define NEAR (48 * 1024) /* bytes of the nearest cache */

/* Threads share the rows where there are many and a panel stays in the nearest cache,
   the panels elsewhere. */
void product(const Map *map, const float *x, float *y, int rows, int threads) {
    int near = map->inputs * PANEL * (int)sizeof(float) <= NEAR;
    int by_rows = near && rows >= ROWS * threads, panels = panels_of(map);
    int parts = by_rows ? threads : 1;
#pragma omp parallel for num_threads(threads) schedule(static) collapse(2)
    for (int part = 0; part < parts; part++)
        for (int number = 0; number < panels; number++) {
            int64_t first = (int64_t)rows * part / parts;
            int64_t last = (int64_t)rows * (part + 1) / parts;
            product_panel(map, number, x + first * map->inputs, map->inputs, 1,
                          y + first * map->outputs, map->outputs, last - first, PLAIN);
        }
}
