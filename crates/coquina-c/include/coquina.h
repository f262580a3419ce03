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

// A table that was opened for reading, as of the commit that was the newest then.
typedef struct coquina_table coquina_table;

// Values of a column in memory, one for each row that was read.
typedef struct coquina_values coquina_values;

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

// Finds the rows that meet a condition such as `price > 20 and name.startswith('A')`: the first `limit` of them,
// `UINT64_MAX` for all. `*rows` is a handle for `coquina_values_close`, and null after an error; its items are the
// numbers of the rows, "int64", ascending, as `coquina_table_read_rows` takes them.
//
// # Safety
// `table` is an open handle; `condition` is text that ends with a zero byte; `rows` points to a variable.
coquina_status coquina_table_query(const coquina_table *table,
                                   const char *condition,
                                   uint64_t limit,
                                   coquina_values **rows);

// Counts the rows that meet a condition, as `coquina_table_query` takes it.
//
// # Safety
// `table` is an open handle; `condition` is text that ends with a zero byte; `count` points to a variable.
coquina_status coquina_table_count(const coquina_table *table, const char *condition, uint64_t *count);

// What went wrong in the last call of this thread that returned an error: a sentence with the values and the place.
// Null if none did. Valid until the next call of this thread fails.
const char *coquina_error(void);

// Opens the table in a directory for reading. `*table` is a handle for `coquina_table_close`, and null after an error.
//
// # Safety
// `path` is text that ends with a zero byte; `table` points to a variable.
coquina_status coquina_table_open(const char *path,
                                  coquina_table **table);

// Gives the handle back. Nothing happens for null.
//
// # Safety
// `table` is null or an open handle, which is not used any more.
void coquina_table_close(coquina_table *table);

// How many rows the table has; 0 for null.
//
// # Safety
// `table` is null or an open handle.
uint64_t coquina_table_nrows(const coquina_table *table);

// How many columns the table has that can be read; 0 for null.
//
// # Safety
// `table` is null or an open handle.
size_t coquina_table_ncolumns(const coquina_table *table);

// What column `number` is called, from 0 on. Valid as long as the handle; null for a number of no column.
//
// # Safety
// `table` is null or an open handle.
const char *coquina_table_column_name(const coquina_table *table, size_t number);

// What column `number` holds, for people and programs, such as "float64", "datetime64[ns]", "text", "categories of
// text". Valid as long as the handle; null for a number of no column.
//
// # Safety
// `table` is null or an open handle.
const char *coquina_table_column_type(const coquina_table *table,
                                      size_t number);

// Reads rows `start` to before `stop` of a column. `*values` is a handle for `coquina_values_close`, and null after an
// error. Categories are read as the values that they stand for.
//
// # Safety
// `table` is an open handle; `column` is text that ends with a zero byte; `values` points to a variable.
coquina_status coquina_table_read(const coquina_table *table,
                                  const char *column,
                                  uint64_t start,
                                  uint64_t stop,
                                  coquina_values **values);

// Reads the rows with these numbers of a column, in this order, as `coquina_table_read` does.
//
// # Safety
// As for `coquina_table_read`; `rows` points to `count` numbers.
coquina_status coquina_table_read_rows(const coquina_table *table,
                                       const char *column,
                                       const int64_t *rows,
                                       size_t count,
                                       coquina_values **values);

// Gives the values back. Nothing happens for null.
//
// # Safety
// `values` is null or a handle that is not used any more; nor are the pointers into it.
void coquina_values_close(coquina_values *values);

// How many values there are, with those that are missing; 0 for null.
//
// # Safety
// `values` is null or an open handle.
size_t coquina_values_len(const coquina_values *values);

// What the values are: "bool", "int8" to "int64", "uint8" to "uint64", "float16", "float32", "float64", "complex64",
// "complex128", "bytes of width 4" and so on, or "text". Times are "int64": the type of their column says what is
// counted. Valid as long as the handle; null for null.
//
// # Safety
// `values` is null or an open handle.
const char *coquina_values_type(const coquina_values *values);

// The items, one behind another; of text the UTF-8 bytes of all texts, without zeros between them. Items of values that
// are missing mean nothing. Valid as long as the handle; null for null.
//
// # Safety
// `values` is null or an open handle.
const void *coquina_values_items(const coquina_values *values);

// How many bytes an item has; 0 for text, and for null.
//
// # Safety
// `values` is null or an open handle.
size_t coquina_values_item_bytes(const coquina_values *values);

// Where each text begins in the bytes, and, one more, where the last one ends. Valid as long as the handle; null for
// what is no text.
//
// # Safety
// `values` is null or an open handle.
const int64_t *coquina_values_offsets(const coquina_values *values);

// For each value, whether it is missing. Valid as long as the handle; null if none can be.
//
// # Safety
// `values` is null or an open handle.
const bool *coquina_values_missing(const coquina_values *values);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* COQUINA_H */
