// The index of a checkpoint in several files: which tensor is in which shard, and which shards a selection needs. Names
// only: open.js reads the index and opens the shards.

import { GatedMLPError } from './errors.js';
import { findGroups, isSelected } from './scan.js';
import { segmentsOf } from './source.js';

/** @typedef {{ name: string, shardOf: Map<string, string> }} ShardIndex tensor -> shard */

/**
 * @param {string} name
 * @param {Record<string, unknown>} json
 * @returns {ShardIndex}
 */
export function parseIndex(name, json) {
  const map = json.weight_map;
  const entries =
    typeof map === 'object' && map !== null && !Array.isArray(map) ? Object.entries(map) : [];
  if (entries.length === 0)
    throw new GatedMLPError('ERR_SAFETENSORS', `${name}: no weight_map in this index`, {
      kind: 'index',
    });
  for (const [tensor, shard] of entries) {
    if (typeof shard === 'string') continue;
    throw new GatedMLPError(
      'ERR_SAFETENSORS',
      `${name}: the shard of ${JSON.stringify(tensor)} is not a string`,
      { kind: 'index', tensor },
    );
  }
  for (const shard of new Set(entries.map(([, value]) => value))) segmentsOf(shard);
  return { name, shardOf: new Map(entries) };
}

/**
 * @param {ShardIndex} index
 * @param {import('./scan.js').Selection} selection
 * @param {string[]} types
 * @returns {string[]} names of shards, in the order of the index
 */
export function neededShards({ shardOf }, selection, types) {
  const all = [...new Set(shardOf.values())];
  if (
    selection.layer === undefined &&
    selection.expert === undefined &&
    selection.prefix === undefined
  )
    return all;
  const modules = new Set();
  for (const group of findGroups(shardOf.keys(), types)) {
    // A group that is no expert by its name may be a stack of them.
    const mlp = { prefix: group.module, layer: group.layer, expert: group.expert ?? -1 };
    if (isSelected(mlp, selection)) modules.add(group.module);
  }
  const needed = new Set();
  // All that lies below: biases, adapters and scales are as needed as the matrices.
  for (const [name, shard] of shardOf) {
    for (let at = name.lastIndexOf('.'); at > 0; at = name.lastIndexOf('.', at - 1))
      if (modules.has(name.slice(0, at))) needed.add(shard);
  }
  return needed.size === 0 ? all : all.filter((shard) => needed.has(shard));
}
