// Validations whose deletion no test notices, and why none should: by file and by what the deleted text begins with.

/** @type {{ file: string, what: string, reason: string }[]} */
export const HARMLESS_DELETIONS = [
  {
    file: 'json_string.c',
    what: 'count - at >= sizeof eight',
    reason: 'eight bytes at once are a shortcut; one by one gives the same',
  },
  {
    file: 'json_string.c',
    what: '(eight & 0x8080808080808080u) == 0',
    reason: 'eight bytes at once are a shortcut; one by one gives the same',
  },
  {
    file: 'json_string.c',
    what: "byte >= '0'",
    reason: "less than '0' gives a negative digit, which is none either",
  },
  {
    file: 'json_string.c',
    what: 'length <= sizeof decoded',
    reason: 'no word that is asked for is longer than the buffer, and the lengths are equal',
  },
  {
    file: 'safetensors.c',
    what: 'r->json.reason == SAFETENSORS_REASON_NONE',
    reason: 'json_fail keeps the first reason, and what follows refuses all the same',
  },
  {
    file: 'safetensors_layout.c',
    what: 'compare(t, index[middle - 1], index[middle]) <= 0',
    reason: 'a shortcut for what is sorted already; merging gives the same',
  },
  {
    file: 'http.js',
    what: 'throw request.signal.reason;',
    reason: "together(), in which every read runs, ends with the signal's reason all the same",
  },
  {
    file: 'arrays.js',
    what: "typeof value !== 'number'",
    reason: 'Number.isInteger and Number.isFinite say no to what is no number; the type needs it',
  },
  {
    file: 'arrays.js',
    what: 'array.length === 0',
    reason: 'an array whose buffer is gone has no elements; others are spared the look',
  },
  {
    file: 'stream.js',
    what: '!tensor',
    reason: 'shardOf() has refused names that the shard does not have; the type needs it',
  },
];
