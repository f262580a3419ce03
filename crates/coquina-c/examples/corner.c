/* Prints the corner of an array of two axes of doubles: its first items along each axis.
 *
 *   cc corner.c -I ../include -L ../../../target/release -lcoquina_c -o corner
 *   ./corner weather.b2nd 3
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coquina.h"

static int fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, coquina_error());
    return EXIT_FAILURE;
}

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: corner FILE ITEMS\n");
        return EXIT_FAILURE;
    }
    coquina_array *array;
    if (coquina_array_open(argv[1], &array) != COQUINA_STATUS_OK) {
        return fail("open");
    }
    const char *dtype = coquina_array_dtype(array);
    if (coquina_array_ndim(array) != 2 || dtype == NULL || strcmp(dtype, "<f8") != 0) {
        fprintf(stderr, "%s: is no array of two axes of doubles\n", argv[1]);
        coquina_array_close(array);
        return EXIT_FAILURE;
    }
    uint64_t most = strtoull(argv[2], NULL, 10);
    const uint64_t *size = coquina_array_shape(array);
    uint64_t start[2] = {0, 0};
    uint64_t shape[2] = {smaller(most, size[0]), smaller(most, size[1])};
    size_t bytes = shape[0] * shape[1] * sizeof(double);
    double *items = malloc(bytes ? bytes : 1);
    if (items == NULL || coquina_array_read(array, start, shape, items, bytes) != COQUINA_STATUS_OK) {
        free(items);
        coquina_array_close(array);
        return fail("read");
    }
    for (uint64_t row = 0; row < shape[0]; row++) {
        for (uint64_t column = 0; column < shape[1]; column++) {
            printf(column ? " %g" : "%g", items[row * shape[1] + column]);
        }
        printf("\n");
    }
    free(items);
    coquina_array_close(array);
    return EXIT_SUCCESS;
}
