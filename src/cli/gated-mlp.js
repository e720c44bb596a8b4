#!/usr/bin/env node
// The command `gated-mlp inspect <source> [--json]`: which gated MLPs a checkpoint holds, read from its headers alone.
// A thin shell over openCheckpoint; the package's other users never load it.

import { GatedMLPError, openCheckpoint } from '../binding/index.js';

/** @typedef {import('../binding/index.js').Checkpoint} Checkpoint */

const USAGE = `Usage: gated-mlp inspect <source> [--json]

Lists every gated MLP of a checkpoint. No weights are read.
<source> is a .safetensors or .index.json file or URL, a folder, or a Hub id such as HuggingFaceTB/SmolLM2-135M.
HF_TOKEN, where set, is sent to the Hub and nowhere else.
`;
const COLUMNS = [
  'layer',
  'expert',
  'd',
  'dFf',
  'dtype',
  'activation',
  'read from',
  'bytes',
  'module',
];

/** @param {string} source */
function tokenFor(source) {
  const isHub =
    /^(https:\/\/(www\.)?(huggingface\.co|hf\.co)\/|[\w-][\w.-]*\/[\w-][\w.-]*(@|$))/.test(source);
  return isHub ? process.env.HF_TOKEN : undefined;
}

/** @param {Checkpoint} checkpoint */
function asJson({ url, revision, tensors, mlps }) {
  return `${JSON.stringify({ url, revision, tensors: tensors.size, mlps }, null, 2)}\n`;
}

/** @param {Checkpoint} checkpoint */
function asTable({ url, tensors, mlps }) {
  const rows = mlps.map((m) => [
    m.layer ?? '-',
    m.expert ?? '-',
    m.d,
    m.dFf,
    m.dtype,
    m.act ?? '?',
    m.actSource,
    m.byteLength.toLocaleString('en'),
    m.prefix,
  ]);
  const cells = [COLUMNS, ...rows].map((row) => row.map(String));
  const widths = COLUMNS.map((_, i) => Math.max(...cells.map((row) => row[i].length)));
  const lines = cells.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i]))
      .join('  ')
      .trimEnd(),
  );
  const refusals = new Set(mlps.flatMap((m) => m.refusal ?? []));
  const notes = [...refusals].map((words) => `cannot be loaded: ${words}`);
  return `${[`${url}: ${tensors.size} tensors, ${mlps.length} gated MLPs`, '', ...lines, ...notes].join('\n')}\n`;
}

/** @param {string[]} words of the command line */
async function main(words) {
  const json = words.includes('--json');
  const [command, source, ...rest] = words.filter((word) => word !== '--json');
  if (command !== 'inspect' || source === undefined || rest.length > 0) {
    process.stderr.write(USAGE);
    return 2;
  }
  try {
    const checkpoint = await openCheckpoint(source, { token: tokenFor(source) });
    process.stdout.write(json ? asJson(checkpoint) : asTable(checkpoint));
    return 0;
  } catch (error) {
    if (!(error instanceof GatedMLPError)) throw error;
    process.stderr.write(`${error.code}: ${error.message}\n`);
    return 1;
  }
}

process.exitCode = await main(process.argv.slice(2));
