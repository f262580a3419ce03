/* Codecs and filters for coquina, from outside of coquina: version 1.0 of the interface.
 *
 * A plugin is a dynamic library that exports one function, `coquina_plugin`, which returns a table of functions. What
 * each is called with, and must do, is said here and in docs/formats/plugins.md.
 *
 * A major version never changes what is written here. A minor version adds functions behind the last one, which is why
 * the table begins with its size: of two tables of different minor versions, host and plugin use what both know.
 *
 * Functions are called from several threads at once. They must not unwind, longjmp or exit. What they return must stay
 * where it is for as long as the process runs; a library that was loaded is never unloaded.
 */
#ifndef COQUINA_PLUGIN_H
#define COQUINA_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COQUINA_PLUGIN_MAJOR 1
#define COQUINA_PLUGIN_MINOR 0

/* `what`: codecs turn a block into fewer bytes, filters into as many others. */
#define COQUINA_CODEC 0
#define COQUINA_FILTER 1

/* What `encode` and `decode` return in place of a length and of 0. */
#define COQUINA_STORE (-1)
#define COQUINA_FAILED (-2)

typedef struct coquina_plugin_table {
    /* The three fields that every version begins with: COQUINA_PLUGIN_MAJOR and COQUINA_PLUGIN_MINOR as the plugin was
     * compiled, and sizeof(coquina_plugin_table). */
    uint32_t major;
    uint32_t minor;
    size_t size;

    /* How many codecs or filters there are: at most 256. */
    uint32_t (*count)(uint32_t what);

    /* The id of codec or filter `number`, counted from 0: 160 to 255 for users, 32 to 159 as Blosc2 gives them out. */
    uint32_t (*id)(uint32_t what, uint32_t number);

    /* Its name: 1 to 64 ASCII letters, digits, `_`, `-` and `.`. Their number goes to `*bytes`. */
    const char *(*name)(uint32_t what, uint32_t number, size_t *bytes);

    /* Whether decoding may give other items than were encoded, with this parameter byte and these options: 1 or 0. */
    uint32_t (*is_lossy)(uint32_t what, uint32_t number, uint32_t meta, const char *options, size_t options_bytes);

    /* Whether a codec must have blocks with the items as they are, neither cut into streams nor behind a filter that
     * moves bytes: 1 or 0. Of filters nobody asks it. */
    uint32_t (*needs_items)(uint32_t what, uint32_t number);

    /* Encodes a block of `input_bytes` bytes at `input`, which must stay as they are.
     *
     * A codec writes fewer bytes to `out`, where there is room for `out_bytes`, and returns how many; or COQUINA_STORE if
     * they do not fit or do not gain: the block is then stored as it is. A filter has as much room as input, fills all
     * of it, and returns its length. Where it cannot, it returns COQUINA_FAILED, writes why to `error` (UTF-8, at most
     * `error_bytes`), and the length of that to `*error_len`.
     *
     * typesize      bytes of an item, 1 to 255; 1 for larger ones
     * shape, axes   items along each axis, the last one dense; no axes if the block is of no array, or not a whole one
     * kind          the letter that NumPy has for the kind of items, such as 'f', 'i' or 'u'; 0 if it is not known
     * meta          the parameter byte, 0 to 255, which is stored with each chunk
     * level         1 to 9 for a codec, 0 for a filter
     * options       further options of whoever writes, as JSON in UTF-8, without a 0 at its end; not stored
     */
    int64_t (*encode)(uint32_t what, uint32_t number, size_t typesize, const uint32_t *shape, size_t axes, uint32_t kind,
                      uint32_t meta, uint32_t level, const char *options, size_t options_bytes, const uint8_t *input,
                      size_t input_bytes, uint8_t *out, size_t out_bytes, char *error, size_t error_bytes,
                      size_t *error_len);

    /* Fills all of `out` with what was encoded, and returns 0; or COQUINA_FAILED, as above. `input` may hold anything:
     * files get damaged. */
    int64_t (*decode)(uint32_t what, uint32_t number, size_t typesize, const uint32_t *shape, size_t axes, uint32_t kind,
                      uint32_t meta, const uint8_t *input, size_t input_bytes, uint8_t *out, size_t out_bytes,
                      char *error, size_t error_bytes, size_t *error_len);
} coquina_plugin_table;

/* The one function that a plugin exports. `major` and `minor` are the host's. Returns null for a host that the plugin
 * does not serve. */
#if defined(_WIN32)
__declspec(dllexport)
#elif defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const coquina_plugin_table *coquina_plugin(uint32_t major, uint32_t minor);

#ifdef __cplusplus
}
#endif

#endif
