// The way to the loader, which is a chunk of its own: whoever only computes never fetches it.
// checkpoint.js and what it imports come with the first checkpoint that is opened.

/** @typedef {import('./checkpoint.js').Checkpoint} Checkpoint */
/** @typedef {import('./checkpoint.js').CheckpointSource} CheckpointSource */
/** @typedef {import('./checkpoint.js').OpenOptions} OpenOptions */

export const loader = () => import('./checkpoint.js');

/**
 * Opens a checkpoint by its headers: at most two requests a shard, and no weight is read. The source is the URL of a
 * .safetensors or .index.json file, the URL of a folder, a Hub id 'org/name' or 'org/name@revision', a File or Blob, a
 * Response, bytes, or in Node a path.
 * @param {CheckpointSource} source
 * @param {OpenOptions} [options]
 * @returns {Promise<Checkpoint>}
 */
export async function openCheckpoint(source, options) {
  return (await loader()).openCheckpoint(source, options);
}
