/* JSON as the header of a safetensors file may hold it: exactly what serde_json accepts, no more
 * and no less.
 *
 * A cursor walks over text that is known to be UTF-8. There is no tree, no allocation and no recursion: containers are
 * opened and closed by the caller, and a value nobody wants is skipped. What is wrong is kept in the cursor with its
 * place, the first thing only; the function that met it returns 0, and the caller then stops. Only safetensors.c calls
 * this.
 */
#ifndef JSON_H
#define JSON_H

#include "safetensors.h"

#include <stdint.h>

#define JSON_DEPTH_LIMIT                                                                           \
    128u /* serde_json refuses the container that would be the 128th inside one another */

typedef struct {
    const uint8_t *text;
    uint64_t count;
    uint64_t at;
    uint32_t depth;  /* containers open at `at` */
    uint32_t reason; /* enum safetensors_reason; NONE while all is well */
    uint64_t wrong;  /* where */
} json_cursor;

/* A string as it stands in the text, quotes included. */
typedef struct {
    uint32_t position;
    uint32_t bytes;
} json_span;

/* How many bytes from the start are well-formed UTF-8: count itself, or where the first bad
 * sequence begins. */
uint64_t utf8_valid_bytes(const uint8_t *text, uint64_t count);

/* Notes what is wrong and where; at the end of the text the reason becomes END_OF_HEADER. Returns
 * 0. */
int json_fail(json_cursor *c, uint32_t reason, uint64_t position);

/* Skips white space; the byte that follows, or 0 at the end. */
uint8_t json_peek(json_cursor *c);

/* Takes the '{' or '[' under the cursor. */
int json_open(json_cursor *c);

/* Before each entry of an open container that ends with `close`: 1 if there is an entry, 0 once the
 * container is closed (and taken) or something is wrong. `first`: no entry has been read yet. */
int json_more(json_cursor *c, uint8_t close, int first);

/* Takes a key and its colon. */
int json_key(json_cursor *c, json_span *key);

/* Takes the string that begins under the cursor. */
int json_string(json_cursor *c, json_span *string);

/* Takes an unsigned decimal integer below 2^64, the only form of number a header needs. */
int json_unsigned(json_cursor *c, uint64_t *value);

/* Takes any number at all, with the limits serde_json has. */
int json_number(json_cursor *c);

/* Takes any value at all, checking it. */
int json_skip(json_cursor *c);

/* The UTF-8 that a string taken before stands for: its length, of which at most `capacity` bytes
 * are written. */
uint32_t json_decode(uint8_t *out, uint32_t capacity, const uint8_t *text, json_span string);

/* Whether the string stands for exactly these ASCII bytes. */
int json_is(const uint8_t *text, json_span string, const char *ascii);

#endif
