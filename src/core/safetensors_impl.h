/* What the files of the safetensors reader share; nobody else includes this. */
#ifndef SAFETENSORS_IMPL_H
#define SAFETENSORS_IMPL_H

#include "safetensors.h"

/* The block of safetensors_read, as pointers. All are NULL where there is no block. */
typedef struct {
    safetensors_block *block;
    safetensors_tensor *tensors;
    uint64_t *dims;
    safetensors_pair *pairs;
    uint32_t *file_order;
    uint32_t *scratch; /* room to sort the tensors, or the pairs and their indices */
    uint8_t *pool;
    uint64_t end; /* bytes of the block */
} safetensors_tables;

/* Divides the block into tables and fills in its head; with NULL it only works out `end`. */
safetensors_tables safetensors_place(void *block, const safetensors_summary *summary);

/* A header's length against the cap and the file's. Kinds: too-large, header-length. */
uint32_t safetensors_check_header_bytes(safetensors_error *error, uint64_t header_bytes,
                                        uint64_t file_bytes);

/* Names given twice, then the layout of the data; fills in file_order and data_bytes. */
uint32_t safetensors_check_layout(safetensors_error *error, const safetensors_tables *tables);

#endif
