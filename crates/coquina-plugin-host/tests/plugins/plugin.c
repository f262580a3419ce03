/* Plugins that are written in C, from the header alone. VARIANT says which: 0 is a good one. */
#include "coquina_plugin.h"

#include <string.h>

#ifndef VARIANT
#define VARIANT 0
#endif

static uint32_t count(uint32_t what) {
#if VARIANT == 5
    return 1000;
#endif
    return what <= COQUINA_FILTER ? 1 : 0;
}

static uint32_t id(uint32_t what, uint32_t number) {
    (void)number;
#if VARIANT == 6
    return 5;
#elif VARIANT == 7
    return 256 + 170;
#elif VARIANT == 22
    return 172;
#elif VARIANT == 13
    return 174;
#endif
    return what == COQUINA_CODEC ? 170 : 171;
}

static const char *name(uint32_t what, uint32_t number, size_t *bytes) {
    (void)number;
    const char *name = what == COQUINA_CODEC ? "c_runs" : "c_flip";
#if VARIANT == 8
    name = "a\nb";
#elif VARIANT == 9
    name = "\xff\xfe";
#endif
    *bytes = strlen(name);
#if VARIANT == 10
    return NULL;
#endif
    return name;
}

static uint32_t is_lossy(uint32_t what, uint32_t number, uint32_t meta, const char *options, size_t options_bytes) {
    (void)what, (void)number, (void)options;
    return meta == 1 || options_bytes == 3;
}

static uint32_t needs_items(uint32_t what, uint32_t number) {
    (void)what, (void)number;
#if VARIANT == 13
    return 1;
#endif
    return 0;
}

static int64_t fail(const char *why, char *error, size_t error_bytes, size_t *error_len) {
    size_t bytes = strlen(why);
    *error_len = bytes < error_bytes ? bytes : error_bytes;
    memcpy(error, why, *error_len);
    return COQUINA_FAILED;
}

/* Runs: a length and a byte, over and over. */
static int64_t encode(uint32_t what, uint32_t number, size_t typesize, const uint32_t *shape, size_t axes, uint32_t kind,
                      uint32_t meta, uint32_t level, const char *options, size_t options_bytes, const uint8_t *input,
                      size_t input_bytes, uint8_t *out, size_t out_bytes, char *error, size_t error_bytes,
                      size_t *error_len) {
    (void)number, (void)typesize, (void)shape, (void)axes, (void)kind, (void)meta, (void)level, (void)options;
    (void)options_bytes;
    if (what == COQUINA_FILTER) {
        for (size_t i = 0; i < input_bytes; i++)
            out[i] = (uint8_t)~input[i];
#if VARIANT == 20
        return (int64_t)input_bytes - 1;
#elif VARIANT == 21
        return COQUINA_STORE;
#endif
        return (int64_t)input_bytes;
    }
#if VARIANT == 22
    return (int64_t)out_bytes + 1;
#elif VARIANT == 23
    return -7;
#elif VARIANT == 24
    return COQUINA_FAILED;
#elif VARIANT == 25
    *error_len = (size_t)-1;
    memset(error, 'x', error_bytes);
    return COQUINA_FAILED;
#elif VARIANT == 26
    return fail("\xff is not UTF-8", error, error_bytes, error_len);
#elif VARIANT == 27
    out[out_bytes] = 99;
#endif
    if (input_bytes > 3 && memcmp(input, "fail", 4) == 0)
        return fail("told to fail", error, error_bytes, error_len);
    size_t put = 0;
    for (size_t i = 0; i < input_bytes;) {
        size_t run = 1;
        while (i + run < input_bytes && run < 255 && input[i + run] == input[i])
            run++;
        if (put + 2 > out_bytes)
            return COQUINA_STORE;
        out[put++] = (uint8_t)run;
        out[put++] = input[i];
        i += run;
    }
    return (int64_t)put;
}

static int64_t decode(uint32_t what, uint32_t number, size_t typesize, const uint32_t *shape, size_t axes, uint32_t kind,
                      uint32_t meta, const uint8_t *input, size_t input_bytes, uint8_t *out, size_t out_bytes,
                      char *error, size_t error_bytes, size_t *error_len) {
    (void)number, (void)typesize, (void)shape, (void)axes, (void)kind, (void)meta;
    if (what == COQUINA_FILTER) {
        for (size_t i = 0; i < out_bytes; i++)
            out[i] = (uint8_t)~input[i];
        return 0;
    }
    size_t put = 0;
    for (size_t i = 0; i + 1 < input_bytes; i += 2) {
        if (input[i] > out_bytes - put)
            return fail("runs are longer than the block", error, error_bytes, error_len);
        memset(out + put, input[i + 1], input[i]);
        put += input[i];
    }
    return put == out_bytes ? 0 : fail("runs are shorter than the block", error, error_bytes, error_len);
}

#define FUNCTIONS(name) count, id, name, is_lossy, needs_items, encode, decode
#if VARIANT == 1
/* A later minor version: with functions that no host of today knows. */
static uint32_t newer(void) { return 1; }
typedef struct {
    coquina_plugin_table known;
    uint32_t (*newer)(void);
    uint32_t (*newest)(void);
} table_1_7;
static const table_1_7 table = {{1, 7, sizeof(table_1_7), FUNCTIONS(name)}, newer, newer};
#elif VARIANT == 2
static const coquina_plugin_table table = {2, 0, sizeof(coquina_plugin_table), FUNCTIONS(name)};
#elif VARIANT == 3
static const coquina_plugin_table table = {1, 0, offsetof(coquina_plugin_table, decode), FUNCTIONS(name)};
#elif VARIANT == 4
static const coquina_plugin_table table = {1, 0, sizeof(coquina_plugin_table), FUNCTIONS(NULL)};
#else
static const coquina_plugin_table table = {COQUINA_PLUGIN_MAJOR, COQUINA_PLUGIN_MINOR, sizeof(coquina_plugin_table),
                                           FUNCTIONS(name)};
#endif

#if VARIANT != 11
const coquina_plugin_table *coquina_plugin(uint32_t major, uint32_t minor) {
    (void)major, (void)minor;
#if VARIANT == 12
    return NULL;
#endif
    return (const coquina_plugin_table *)&table;
}
#endif
