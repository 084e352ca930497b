/* The product of some rows with a matrix in panels. */

#include "product.h"

int panel_width(void) { return PANEL; }

void product(const Map *map, const float *x, float *y, int rows, int threads) {
    int panels = panels_of(map);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int number = 0; number < panels; number++)
        product_panel(map, number, x, map->inputs, y, map->outputs, rows, PLAIN);
}
