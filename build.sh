#!/usr/bin/env bash
# Compiles src/core. The only place with compiler flags.
#
#   bash build.sh                       src/binding/gated-mlp.wasm, the module that the package ships
#   bash build.sh relaxed               src/binding/gated-mlp-relaxed.wasm, the same for engines with relaxed SIMD
#   bash build.sh threads               src/binding/gated-mlp-threads.wasm, on a shared memory that the caller brings
#   bash build.sh relaxed-threads       both: src/binding/gated-mlp-relaxed-threads.wasm
#   bash build.sh float64               build/gated-mlp-f64.wasm, the same sources in double (for tests)
#   bash build.sh native CC OUT FILE... a native program of FILEs under AddressSanitizer and UBSan
#   bash build.sh fast CC OUT FILE...   the same at full speed, without sanitizers
#   bash build.sh fuzz CC OUT FILE...   the same under sanitizers with libFuzzer's main; CC is a clang
#   bash build.sh quick CC OUT FILE...  the same, quick to compile (with -c: one object)
#   bash build.sh shared CC OUT FILE... a native shared library of FILEs
#   In the native modes, an OUT that ends in / is a folder for the objects alone.
#
#   For a module, OBJECTS=FOLDER keeps the objects and compiles only those that are missing; -c after the variant stops there.
#
# EMCC names another emcc. The flags mean the same to Emscripten 3.1.6 (Debian 12) and 3.1.69 (Debian 13).
set -euo pipefail
cd "$(dirname "$0")"

emcc=${EMCC:-emcc}
only_objects=${2:-}
c_flags=(-std=c11 -ffp-contract=off -Wall -Wextra -Wshadow -Wconversion -Werror "-ffile-prefix-map=$PWD=.")
link_flags=(-O3)
# A shared memory is brought from outside; each thread's instance needs a stack of its own. The C library is compiled
# without atomics, which is sound because only one thread allocates.
threads_compile=(-matomics -mbulk-memory -mmutable-globals)
threads_link=(-sIMPORTED_MEMORY "-Wl,--shared-memory,--no-check-features,--export=__stack_pointer")

# The files whose loops do nearly all of the arithmetic are compiled for speed, the others for size.
kernels=(activation gemm quads quads_pack quant quant_gemm quant_pack quant_runs)

compile_objects() { # compile_objects FOLDER FLAG...: one object per file of src/core that has none yet
  local folder=$1 file name level
  shift
  for file in src/core/*.c; do
    name=$(basename "$file" .c)
    if [[ -e $folder/$name.o ]]; then continue; fi
    level=-Os
    if [[ " ${kernels[*]} " == *" $name "* ]]; then level=-O2; fi
    "$emcc" "${c_flags[@]}" "$level" -msimd128 "$@" -c "$file" -o "$folder/$name.o"
  done
}

require_emcc() {
  if ! command -v "$emcc" > /dev/null; then
    echo "build.sh: no '$emcc' here. Install Emscripten (Debian, Ubuntu: apt-get install emscripten) or set EMCC." >&2
    exit 1
  fi
}

build_wasm() { # build_wasm OUT FLAG...
  local out=$1 objects
  shift
  require_emcc
  # EXPORT(name) lines of exports.c are the one list of what the module offers; threads have a few more.
  local exports mark
  if [[ " $* " == *" -matomics "* ]]; then mark='EXPORT\(_THREADS\|\)'; else mark='EXPORT\(\)'; fi
  exports=$(sed -n "s/^$mark(\([a-z0-9_]*\)).*/_\2/p" src/core/exports.c | paste -sd, -)
  "$emcc" --version | sed -n 1p
  mkdir -p "$(dirname "$out")"
  objects=${OBJECTS:-$(mktemp -d)}
  mkdir -p "$objects"
  compile_objects "$objects" "$@"
  if [[ $only_objects == -c ]]; then return; fi
  "$emcc" "${link_flags[@]}" "$objects"/*.o -sSTANDALONE_WASM --no-entry -sWASM_BIGINT \
    -sMALLOC=emmalloc -sALLOW_MEMORY_GROWTH -sMAXIMUM_MEMORY=4GB "-sEXPORTED_FUNCTIONS=$exports" \
    -o "$objects/module.wasm"
  mv "$objects/module.wasm" "$out"
  if [[ -z ${OBJECTS:-} ]]; then rm -r "$objects"; fi
  echo "$out: $(wc -c < "$out") bytes"
}

# The final relaxed-SIMD opcodes are LLVM 16's and later. Debian 12's Emscripten has LLVM 14, but takes the newer
# clang and lld of the same distribution; its binaryen knows the opcodes no better and is kept out of the link. So is
# Debian 13's: what it makes of them computes bfloat16 a fifth to a quarter slower in V8 12, from 16 tokens on.
# Exit status 3: nothing here can do it, which is no fault of the sources.
use_relaxed_toolchain() {
  require_emcc
  link_flags=(-O1 -Wl,--strip-all -sERROR_ON_WASM_CHANGES_AFTER_LINK)
  local installed newer=19
  installed=$("$emcc" -v 2>&1 | sed -n 's/.*clang version \([0-9]*\).*/\1/p')
  if ((${installed:-0} >= 16)); then return; fi
  local tool
  for tool in clang wasm-ld llvm-nm; do
    if command -v "$tool-$newer" > /dev/null; then continue; fi
    echo "build.sh: NO RELAXED SIMD: '$emcc' has LLVM ${installed:-unknown} and $tool-$newer is missing." \
      "Install it (Debian: apt-get install clang-$newer lld-$newer llvm-$newer)." >&2
    exit 3
  done
  export EM_LLVM_ADD_VERSION=$newer EM_CLANG_ADD_VERSION=$newer
}

build_native() { # build_native CC OUT FILE-OR-FLAG...; an OUT that ends in / is a folder for one object per FILE
  local cc=$1 out=$2 argument flags=()
  shift 2
  mkdir -p "$(dirname "${out}x")"
  if [[ $out != */ ]]; then
    "$cc" "${c_flags[@]}" -Isrc/core "$@" -o "$out" -pthread -lm
    return
  fi
  for argument in "$@"; do if [[ $argument != *.c ]]; then flags+=("$argument"); fi; done
  for argument in "$@"; do
    if [[ $argument == *.c ]]; then
      "$cc" "${c_flags[@]}" -Isrc/core "${flags[@]}" -c "$argument" -o "$out$(basename "$argument" .c).o"
    fi
  done
}

case ${1:-simd128} in
  simd128) build_wasm src/binding/gated-mlp.wasm ;;
  relaxed)
    use_relaxed_toolchain
    build_wasm src/binding/gated-mlp-relaxed.wasm -mrelaxed-simd
    ;;
  threads)
    link_flags+=("${threads_link[@]}")
    build_wasm src/binding/gated-mlp-threads.wasm "${threads_compile[@]}"
    ;;
  relaxed-threads)
    use_relaxed_toolchain
    link_flags+=("${threads_link[@]}")
    build_wasm src/binding/gated-mlp-relaxed-threads.wasm -mrelaxed-simd "${threads_compile[@]}"
    ;;
  float64) build_wasm build/gated-mlp-f64.wasm -DGATED_MLP_FLOAT64 ;;
  native) build_native "${@:2}" -O2 -g -fsanitize=address,undefined -fno-sanitize-recover=all ;;
  fast) build_native "${@:2}" -O3 ;;
  quick) build_native "${@:2}" -O1 ;;
  fuzz) build_native "${@:2}" -O2 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all ;;
  shared) build_native "${@:2}" -O2 -fPIC -shared ;;
  *)
    sed -n '2,17s/^# \{0,1\}//p' build.sh >&2
    exit 2
    ;;
esac
