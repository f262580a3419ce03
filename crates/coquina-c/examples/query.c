/* Prints a column of the rows of a table that meet a condition: doubles or text.
 *
 *   cc query.c -I ../include -L ../../../target/release -lcoquina_c -o query
 *   ./query trees "height > 10 and name is not null" name
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coquina.h"

static int fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, coquina_error());
    return EXIT_FAILURE;
}

static void print_values(const coquina_values *rows, const coquina_values *values) {
    const int64_t *numbers = coquina_values_items(rows);
    const int64_t *offsets = coquina_values_offsets(values);
    const bool *missing = coquina_values_missing(values);
    for (size_t at = 0; at < coquina_values_len(values); at++) {
        printf("%" PRId64 ": ", numbers[at]);
        if (missing != NULL && missing[at]) {
            printf("missing\n");
        } else if (offsets != NULL) {
            const char *bytes = coquina_values_items(values);
            printf("%.*s\n", (int)(offsets[at + 1] - offsets[at]), bytes + offsets[at]);
        } else {
            printf("%g\n", ((const double *)coquina_values_items(values))[at]);
        }
    }
}

static int query(const coquina_table *table, const char *condition, const char *column) {
    coquina_values *rows, *values;
    if (coquina_table_query(table, condition, UINT64_MAX, &rows) != COQUINA_STATUS_OK) {
        return fail("query");
    }
    size_t count = coquina_values_len(rows);
    if (coquina_table_read_rows(table, column, coquina_values_items(rows), count, &values) != COQUINA_STATUS_OK) {
        coquina_values_close(rows);
        return fail("read");
    }
    int result = EXIT_SUCCESS;
    if (coquina_values_offsets(values) != NULL || strcmp(coquina_values_type(values), "float64") == 0) {
        print_values(rows, values);
        printf("%zu rows\n", count);
    } else {
        fprintf(stderr, "%s: %s, where doubles or text are printed\n", column, coquina_values_type(values));
        result = EXIT_FAILURE;
    }
    coquina_values_close(values);
    coquina_values_close(rows);
    return result;
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: query TABLE CONDITION COLUMN\n");
        return EXIT_FAILURE;
    }
    coquina_table *table;
    if (coquina_table_open(argv[1], &table) != COQUINA_STATUS_OK) {
        return fail("open");
    }
    int result = query(table, argv[2], argv[3]);
    coquina_table_close(table);
    return result;
}
