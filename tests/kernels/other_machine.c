/* Calls kernels on behalf of a program on another machine, which sends the memory that
   they work on and gets it back. A call is: a name, blocks of memory, where in these
   pointers to others lie, and arguments. Whole numbers and pointers are passed in their
   order and floats in theirs, as the calling conventions of 64-bit ARM and x86 have it. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *name;
    void (*kernel)(void);
} Known;
extern const Known known[]; /* ends with no name */

typedef int64_t Kernel(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
                       int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
                       int64_t, int64_t, float, float);

static void get(void *to, size_t size) {
    if (size && fread(to, size, 1, stdin) != 1) exit(0); /* nothing more is asked */
}

static int64_t number(void) {
    int64_t value;
    get(&value, sizeof value);
    return value;
}

static void *address(char **blocks) {
    int64_t block = number(), offset = number();
    return blocks[block] + offset;
}

static Kernel *find(const char *name) {
    for (const Known *one = known; one->name; one++)
        if (!strcmp(one->name, name)) return (Kernel *)one->kernel;
    fprintf(stderr, "there is no kernel %s\n", name);
    exit(2);
}

int main(void) {
    for (;;) {
        char name[64] = {0};
        get(name, number());
        int64_t count = number();
        char **blocks = calloc(count + 1, sizeof *blocks);
        int64_t *sizes = calloc(count + 1, sizeof *sizes);
        for (int64_t i = 0; i < count; i++) {
            sizes[i] = number();
            blocks[i] = aligned_alloc(64, (sizes[i] + 127) / 64 * 64);
            get(blocks[i], sizes[i]);
        }
        for (int64_t left = number(); left > 0; left--) {
            char *place = address(blocks);
            void *target = address(blocks);
            memcpy(place, &target, sizeof target);
        }
        int64_t whole[16] = {0}, used = 0;
        float real[2] = {0}, told;
        int reals = 0;
        for (int64_t left = number(); left > 0; left--) {
            switch (number()) {
            case 0: whole[used++] = number(); break;
            case 1: whole[used++] = (int64_t)(intptr_t)address(blocks); break;
            default: get(&told, sizeof told), real[reals++] = told;
            }
        }
        int64_t *w = whole;
        int64_t result = find(name)(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8],
                                    w[9], w[10], w[11], w[12], w[13], w[14], w[15],
                                    real[0], real[1]);
        fwrite(&result, sizeof result, 1, stdout);
        for (int64_t i = 0; i < count; i++) {
            fwrite(blocks[i], 1, sizes[i], stdout);
            free(blocks[i]);
        }
        fflush(stdout);
        free(blocks);
        free(sizes);
    }
}
