/* Reads files from standard input, each as 8 bytes of length (little-endian) and its bytes, and prints a line of
 * tab-separated fields for each: what safetensors_read made of it. tests/safetensors.test.js compares the lines with
 * the reference's verdicts. Names and strings are printed in hexadecimal.
 *
 *     ok      tensors  pairs  data_start  data_bytes  then, up to 100 of each: T name dtype dims begin end, M key value
 *     <kind>  reason  position  expected  found  name  key  look
 */
#include "read_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LISTED 100u

static void print_hex(const uint8_t *bytes, uint32_t count) {
    putchar('\t');
    for (uint32_t i = 0; i < count; i++) {
        printf("%02x", bytes[i]);
    }
}

static void print_tables(const safetensors_block *block) {
    const uint8_t *pool = table_at(block, block->pool);
    const uint64_t *dims = table_at(block, block->dims);
    const safetensors_tensor *tensors = table_at(block, block->tensors);
    const safetensors_pair *pairs = table_at(block, block->pairs);
    printf("ok\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu64 "\t%" PRIu64, block->tensor_count,
           block->pair_count, block->data_start, block->data_bytes);
    for (uint32_t i = 0; i < block->tensor_count && block->tensor_count <= LISTED; i++) {
        printf("\tT");
        print_hex(pool + tensors[i].name, tensors[i].name_bytes);
        printf("\t%" PRIu32 "\t", tensors[i].dtype);
        for (uint32_t axis = 0; axis < tensors[i].rank; axis++) {
            printf("%s%" PRIu64, axis == 0 ? "" : ",", dims[tensors[i].first_dim + axis]);
        }
        printf("\t%" PRIu64 "\t%" PRIu64, tensors[i].begin, tensors[i].end);
    }
    for (uint32_t i = 0; i < block->pair_count && block->pair_count <= LISTED; i++) {
        printf("\tM");
        print_hex(pool + pairs[i].key, pairs[i].key_bytes);
        print_hex(pool + pairs[i].value, pairs[i].value_bytes);
    }
}

static void print_error(const safetensors_error *error, const uint8_t *file, uint64_t file_bytes) {
    printf("%s\t%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64, safetensors_kind_name(error->kind),
           safetensors_reason_words(error->reason), error->position, error->expected, error->found);
    print_hex(file + SAFETENSORS_PREFIX_BYTES + error->name_position, error->name_bytes);
    print_hex(file + SAFETENSORS_PREFIX_BYTES + error->key_position, error->key_bytes);
    printf("\t%s",
           safetensors_look_words(safetensors_sniff(file, file_bytes < 64 ? file_bytes : 64)));
}

int main(void) {
    uint8_t prefix[8];
    while (fread(prefix, 1, sizeof prefix, stdin) == sizeof prefix) {
        uint64_t count = 0;
        for (uint32_t i = 0; i < sizeof prefix; i++) {
            count |= (uint64_t)prefix[i] << 8 * i;
        }
        uint8_t *file = malloc(count == 0 ? 1 : (size_t)count);
        if (file == NULL || fread(file, 1, (size_t)count, stdin) != count) {
            return 1;
        }
        safetensors_block *block;
        safetensors_error error;
        if (read_file(&block, &error, file, count) == SAFETENSORS_OK) {
            print_tables(block);
        } else {
            print_error(&error, file, count);
        }
        putchar('\n');
        free(block);
        free(file);
    }
    return 0;
}
