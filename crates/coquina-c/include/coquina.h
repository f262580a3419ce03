/* Coquina: compressed arrays and tables that you compute on directly.
 *
 * Functions that can fail return a `coquina_status`; `coquina_error()` then says what went wrong, for the calling
 * thread. Handles are made by `*_open` and the like, and given back by `*_close`, once. Threads may share a handle
 * for everything but closing it. Text is UTF-8 and ends with a zero byte.
 *
 * Made by cbindgen from crates/coquina-c/src; do not edit. */

#ifndef COQUINA_H
#define COQUINA_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

// How a call went. `coquina_error()` gives the sentence of any other than `COQUINA_STATUS_OK`.
typedef enum {
  // It went well.
  COQUINA_STATUS_OK = 0,
  // The bytes contradict the format: they were damaged, or never were what they claim.
  COQUINA_STATUS_CORRUPT = 1,
  // The bytes end before what they announce.
  COQUINA_STATUS_TRUNCATED = 2,
  // Well formed, but needs something that this build does not have.
  COQUINA_STATUS_UNSUPPORTED = 3,
  // An argument that makes no sense: a null pointer, text that is not UTF-8, a buffer of another size.
  COQUINA_STATUS_INVALID = 4,
  // A position outside of what exists.
  COQUINA_STATUS_OUT_OF_BOUNDS = 5,
  // More memory or size than the format or the limits allow.
  COQUINA_STATUS_LIMIT = 6,
  // The call was cancelled.
  COQUINA_STATUS_CANCELLED = 7,
  // The operating system said no.
  COQUINA_STATUS_IO = 8,
  // A fault of the library itself.
  COQUINA_STATUS_INTERNAL = 9,
} coquina_status;

// An array that was opened for reading, as of the commit that was the newest then.
typedef struct coquina_array coquina_array;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the library, such as "0.1.0".
const char *coquina_version(void);

// Sets how many threads work at a time, in this process, from the next call on: 1 to 1024.
coquina_status coquina_set_num_threads(size_t threads);

// Opens the array in a file or directory (`.b2nd`, a contiguous or sparse frame) for reading. `*array` is a handle
// for `coquina_array_close`, and null after an error.
//
// # Safety
// `path` is text that ends with a zero byte; `array` points to a variable.
coquina_status coquina_array_open(const char *path,
                                  coquina_array **array);

// Gives the handle back. Nothing happens for null.
//
// # Safety
// `array` is null or an open handle, which is not used any more.
void coquina_array_close(coquina_array *array);

// How many axes the array has; 0 for null.
//
// # Safety
// `array` is null or an open handle.
size_t coquina_array_ndim(const coquina_array *array);

// How many items there are along each axis: as many numbers as axes, valid as long as the handle. Null for null.
//
// # Safety
// `array` is null or an open handle.
const uint64_t *coquina_array_shape(const coquina_array *array);

// How many bytes an item has; 0 for null.
//
// # Safety
// `array` is null or an open handle.
size_t coquina_array_item_bytes(const coquina_array *array);

// What an item is, in NumPy's words, such as "<f8": valid as long as the handle. Null if the file does not say.
//
// # Safety
// `array` is null or an open handle.
const char *coquina_array_dtype(const coquina_array *array);

// Reads a box of the array: `shape[i]` items from `start[i]` on along each axis, in C order. `out_bytes` is the size
// of `out`, and must be that of the box: only the blocks that it touches are read, verified and decoded. After an
// error `out` may hold parts of the box.
//
// # Safety
// `array` is an open handle; `start` and `shape` point to as many numbers as it has axes; `out` to `out_bytes` bytes
// that nobody else uses during the call.
coquina_status coquina_array_read(const coquina_array *array,
                                  const uint64_t *start,
                                  const uint64_t *shape,
                                  void *out,
                                  size_t out_bytes);

// What went wrong in the last call of this thread that returned an error: a sentence with the values and the place.
// Null if none did. Valid until the next call of this thread fails.
const char *coquina_error(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* COQUINA_H */
