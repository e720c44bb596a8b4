/* The reader as a shared library with one function, for differential.py. */
#include "../native/read_file.h"

#include <string.h>

uint32_t verdict(uint8_t *tables, uint64_t room, safetensors_error *error, const uint8_t *file,
                 uint64_t file_bytes);

/* Reads a file; of a block that fits, the bytes go to `tables`, which else begins with zeros. */
uint32_t verdict(uint8_t *tables, uint64_t room, safetensors_error *error, const uint8_t *file,
                 uint64_t file_bytes) {
    safetensors_block *block;
    memset(tables, 0, sizeof *block);
    uint32_t kind = read_file(&block, error, file, file_bytes);
    if (kind == SAFETENSORS_OK && (uint64_t)block->pool + block->pool_bytes <= room) {
        memcpy(tables, block, block->pool + block->pool_bytes);
    }
    free(block);
    return kind;
}
