/* The reader's calls put together for whole files in memory, as a C user would: used by the test, the corpus program,
 * the fuzz target and the differential run. */
#ifndef READ_FILE_H
#define READ_FILE_H

#include "safetensors.h"

#include <stdlib.h>

/* Reads a file: SAFETENSORS_OK and *block (to be freed), or the kind of error, with *error filled in and *block NULL. */
static inline uint32_t read_file(safetensors_block **block, safetensors_error *error,
                                 const uint8_t *file, uint64_t file_bytes) {
    uint64_t header_bytes = 0;
    safetensors_summary summary;
    *block = NULL;
    uint32_t kind = safetensors_prefix(&header_bytes, error, file, file_bytes, file_bytes);
    if (kind != SAFETENSORS_OK) {
        return kind;
    }
    const uint8_t *header = file + SAFETENSORS_PREFIX_BYTES;
    kind = safetensors_measure(&summary, error, header, header_bytes);
    if (kind != SAFETENSORS_OK) {
        return kind;
    }
    *block = malloc((size_t)summary.block_bytes);
    if (*block == NULL) {
        abort();
    }
    kind = safetensors_read(*block, error, &summary, header, header_bytes, file_bytes);
    if (kind != SAFETENSORS_OK) {
        free(*block);
        *block = NULL;
    }
    return kind;
}

/* A table of the block. */
static inline const void *table_at(const safetensors_block *block, uint32_t offset) {
    return (const uint8_t *)block + offset;
}

#endif
