#!/usr/bin/env bash
# The only place with compiler flags. Builds src/binding/gated-mlp.wasm from src/core with Emscripten.
set -euo pipefail
cd "$(dirname "$0")"
EMCC=${EMCC:-emcc}
exports=$(sed -n 's/^EXPORT(\([a-z0-9_]*\)).*/_\1/p' src/core/exports.c | paste -sd,)
"$EMCC" -std=c11 -O3 -msimd128 -ffp-contract=off -Wall -Wextra -Wshadow -Wconversion -Werror \
  -sSTANDALONE_WASM --no-entry -sALLOW_MEMORY_GROWTH -sWASM_BIGINT -sMALLOC=emmalloc -sMAXIMUM_MEMORY=4GB \
  "-sEXPORTED_FUNCTIONS=$exports" src/core/*.c -o src/binding/gated-mlp.wasm
