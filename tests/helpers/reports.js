// Public reports about loaders of this kind, by what they have in common, and the tests that have the symptoms in their titles.
// public-reports.test.js holds each entry to the file it names.

/** @type {{ reports: string, tests: [file: string, symptom: string][] }[]} file: from tests/ */
export const REPORTS = [
  {
    reports: 'safetensors #817',
    tests: [['ranges.test.js', 'a tensor past 512 MiB, where 32-bit parsers break']],
  },
  {
    reports: 'safetensors #401, #278, #466, #668, #849',
    tests: [
      ['public-reports.test.js', 'duplicate keys are blamed on the key, not on an offset'],
      ['public-reports.test.js', 'a number in the metadata is named by its key'],
      ['public-reports.test.js', 'a second document after the header is told with its position'],
      ['public-reports.test.js', 'a header of 126 MB is refused by the cap'],
      ['public-reports.test.js', 'a tensor called __metadata__ is an error about metadata'],
    ],
  },
  {
    reports: 'safetensors #231, #607, #695, llama.cpp #18291, mlx #4439',
    tests: [['public-reports.test.js', 'data that is not aligned is copied, never viewed']],
  },
  {
    reports: 'fastsafetensors #89, #96',
    tests: [['public-reports.test.js', 'empty and null metadata are accepted']],
  },
  {
    reports: 'huggingface_hub #4602',
    tests: [
      [
        'http.test.js',
        'headers that end at the edge of the first request, or one byte off, are read whole',
      ],
    ],
  },
  {
    reports: 'huggingface.js #1790, #1954, #2319',
    tests: [['checkpoint.test.js', 'an index of 500,000 names, more than 25 MB of them, opens']],
  },
  {
    reports: 'huggingface.js #2366, #2118, duckdb-wasm #699, #1189, zarrita.js #432',
    tests: [
      [
        'public-reports.test.js',
        'a server that refuses HEAD, or leaves it without a length, is read by GET alone',
      ],
      ['public-reports.test.js', 'a config behind gzip, without a length, is read whole'],
    ],
  },
  {
    reports: 'hf_transfer #42, huggingface.js #1438',
    tests: [
      ['network.test.js', 'a token and headers go to their own origin and never along a redirect'],
    ],
  },
  {
    reports: 'huggingface_hub #4725, sglang #32279, mlx-vlm #1464',
    tests: [['checkpoint.test.js', 'an index and shards that disagree: an error that names both']],
  },
  {
    reports: 'tt-metal #48264, llama.cpp #7843, swarmllm #28',
    tests: [
      ['held-dtypes.test.js', 'code is kept bit for bit as'],
      ['held-dtypes.test.js', 'computes from exactly these numbers, subnormal ones too'],
      ['held-dtypes.test.js', 'float32 weights come out as bfloat16 rounded to nearest even'],
    ],
  },
  {
    reports: 'elizaOS #30939, haste #119, geotiff.js #207, #198, #193, modelscope_hub #50',
    tests: [
      ['helpers/faults.js', 'a range that begins later'],
      [
        'http.test.js',
        'a server that ignores ranges is read in one pass, and the slices are cut out',
      ],
      ['public-reports.test.js', 'no range goes past the end of the file once that is known'],
    ],
  },
  {
    reports: 'PMTiles #90, #326, #341, #415, #427, maplibre-native #4564',
    tests: [
      [
        'network.test.js',
        'a file replaced between two ranges is read anew from its start: never half of each',
      ],
      ['browser/loader.test.js', "the browser's own cache never mixes two versions of a file"],
      ['network.test.js', 'a file that changes all the time is an error, not an endless restart'],
    ],
  },
  {
    reports: 'transformers.js #420, gsplat.js #27',
    tests: [
      ['helpers/faults.js', 'no Content-Range and no length'],
      ['helpers/faults.js', 'the whole file without a length'],
    ],
  },
  {
    reports: 'ffmpeg.wasm #803, waifu2x-tfjs #5',
    tests: [['public-reports.test.js', 'progress stays below 100 % behind gzip and ends at it']],
  },
  {
    reports: 'web-llm #144, #313, #389, transformers.js #99, #1187, #1561, wllama #268',
    tests: [
      [
        'cache.test.js',
        'a full cache, a damaged entry and a failed load cost nothing but the cache',
      ],
      ['public-reports.test.js', 'an HTML page in place of weights is neither loaded nor cached'],
      ['public-reports.test.js', 'what opening has fetched is not cached as if it were a tensor'],
    ],
  },
  {
    reports: 'wllama #83, transformers.js #1182, web-llm #499, #268',
    tests: [
      [
        'http.test.js',
        'an abort rejects with its reason, closes the connections and gives the memory back',
      ],
      [
        'network.test.js',
        'a broken download resumes at the last good byte instead of starting over',
      ],
    ],
  },
  {
    reports: 'huggingface_hub #2197, #3312, exo #1914',
    tests: [
      ['http.test.js', 'an empty file is too small, not an endless 416'],
      ['network.test.js', '429 with Retry-After ends in the right bytes, not in an error'],
    ],
  },
  {
    reports: 'source-coop #93',
    tests: [
      [
        'browser/loader.test.js',
        'another origin that hides Content-Range, ETag and length from scripts is read right',
      ],
    ],
  },
  {
    reports: 'wllama #204, llama-cpp-wasm #2, llama.cpp #22497, candle #968, #1695',
    tests: [
      [
        'public-reports.test.js',
        'weights above 2 GiB of memory are read from there, not from a negative address',
      ],
      ['ranges.test.js', 'a tensor past 4 GiB'],
      [
        'public-reports.test.js',
        'a layer larger than memory is an error with its bytes, not "unreachable"',
      ],
    ],
  },
  {
    reports: 'ROCmFPX #49, nntrainer #4194, openvino #32683',
    tests: [
      [
        'refusals.test.js',
        'gate and up never follow from shapes: the order told is the order taken',
      ],
    ],
  },
];
