// The words of "Load another model": questions, progress, and every error with a way out. Part of text.js.

export const loadText = {
  reading: 'Reading the header \u2026',
  found: (/** @type {number} */ n) =>
    n === 1 ? 'One gated MLP found.' : `${n} gated MLPs found. Choose one.`,
  option: (
    /** @type {{ prefix: string, expert: number | null, d: number, dFf: number, dtype: string }} */ mlp,
    /** @type {string} */ size,
  ) =>
    `${mlp.prefix}${mlp.expert === null ? '' : ` expert ${mlp.expert}`} \u00b7 ${mlp.d} \u2192 ${mlp.dFf} \u00b7 ${mlp.dtype} \u00b7 ${size}`,
  refused: (/** @type {string} */ why) => `This one cannot be shown: ${why}`,
  large: (/** @type {string} */ size) =>
    `This layer is ${size} to fetch. Nothing else of the model is read. Go on?`,
  fromTheStart: (/** @type {string} */ size, /** @type {string} */ own) =>
    `This server sends files only from their beginning (200 instead of 206): to reach this layer of ${own} it must send ${size}. Go on, or download the file yourself and drop it here?`,
  layerOfLink: (/** @type {string | null} */ module, /** @type {number | null} */ expert) =>
    module === null ? 'a layer' : `${module}${expert === null ? '' : `, expert ${expert},`}`,
  offer: (
    /** @type {string} */ layer,
    /** @type {string} */ model,
    /** @type {string} */ site,
    /** @type {string} */ size,
  ) =>
    `This link shows ${layer} of ${model}, from ${site}${size === '' ? '' : `: load ${size}`}? Nothing has been asked of that site yet.`,
  offerFile: (/** @type {string} */ layer, /** @type {string} */ file) =>
    `This link shows ${layer} of ${file}, a file of the computer on which it was made. If you have that file, choose it below; the link does not carry it.`,
  notThere: 'The layer that the link names is not in this model. Choose another one.',
  notLoaded: (/** @type {string} */ model) =>
    `The link shows ${model}, which was not loaded. The gates below are others.`,
  doorFailed:
    'What loads another model could not be fetched. Are you offline? Try again when you are not.',
  loadSize: (/** @type {string} */ size) => `Load ${size}`,
  load: 'Load this layer',
  progress: (/** @type {string} */ have, /** @type {string} */ all, /** @type {string} */ rate) =>
    `${have} of ${all}${rate === '' ? '' : ` \u00b7 ${rate} a second`}`,
  cancelled: 'Cancelled. Nothing was kept.',
  states: (
    /** @type {number} */ tokens,
    /** @type {number} */ d,
    /** @type {boolean} */ hasOutput,
  ) =>
    `${tokens} tokens of ${d} channels, ${hasOutput ? 'with the model\u2019s own output to check against' : 'without an output to check against'}.`,
  noStates: 'None: the gates will be shown for random noise, and marked so.',
  kept: (/** @type {string} */ size) => `${size} kept`,
  nothingKept: 'nothing kept yet',
  errors: {
    unreachable:
      'There was no answer from this address. Check that it is right and that the server is up, or download the file and drop it here.',
    noCors:
      'The server is there, but it does not let pages of other sites read its answer (no CORS header); the answer may be that there is no such file. Check the address. If it is right, download the file and drop it here, or use a huggingface.co address.',
    offline:
      'You are offline. Connect and try again, or drop a file from this computer: that needs no network.',
    unauthorised:
      'The server wants to know who asks (401 or 403): the model is gated or private, or there is none of this name. Paste an access token that may read it, or download the file and drop it here.',
    notFound:
      'There is no such file (404). A Hub id has the form name/model; an address should end in .safetensors, or in .safetensors.index.json for a model in parts.',
    http: (/** @type {number} */ status) =>
      `The server answered with status ${status}. Try again later, or download the file and drop it here.`,
    noRanges:
      'The server sends files only from their beginning (200 instead of 206), and what is wanted lies too far in. Download the file and drop it here.',
    noAddress: (/** @type {string} */ typed) =>
      `This is no address: \u201c${typed}\u201d. Give a Hub id such as name/model, or a whole address (https://\u2026) that ends in .safetensors.`,
    notSafetensors: (/** @type {string} */ detail) =>
      `This is not a safetensors file: ${detail}. The page reads only that format; most models on huggingface.co have it.`,
    webPage:
      'This is a web page, not a safetensors file: the address leads to HTML, as a sign-in or a model\u2019s page does. Give the address of the file itself, which ends in .safetensors, or a Hub id such as name/model.',
    noMlp: (/** @type {string} */ near) =>
      `No gated MLP is in this file. The page knows gate_proj, up_proj and down_proj and the names other families use.${near === '' ? '' : ` Nearest to what is missing: ${near}.`} If the model is in parts, open its .safetensors.index.json.`,
    dtype: (/** @type {string} */ detail) =>
      `The weights are stored in a way the page cannot compute from. ${detail}. Look for a BF16 or F16 copy of the model.`,
    unsupported: (/** @type {string} */ detail) =>
      `The page knows this kind of model well enough to say that it would show it wrongly. ${detail}`,
    missing: (/** @type {string} */ detail) =>
      `A tensor is missing. ${detail}. If the model is in parts, open its .safetensors.index.json.`,
    shape: (/** @type {string} */ detail) =>
      `The file\u2019s tensors do not fit together. ${detail}`,
    tooLarge: (/** @type {string} */ detail) =>
      `This layer is larger than a page\u2019s memory can be: ${detail}. Choose a smaller model, or one expert of a mixture.`,
    memory: (/** @type {string} */ detail) =>
      `Not enough memory for this layer. ${detail}. Close other tabs, or choose a smaller model.`,
    states: (/** @type {string} */ detail) =>
      `These hidden states cannot be used: ${detail}. capture_hidden.py makes such files.`,
    noConfig: 'The config.json that came along is not JSON.',
    noWeights: 'None of these files ends in .safetensors.',
    other: (/** @type {string} */ detail) => detail,
  },
};
