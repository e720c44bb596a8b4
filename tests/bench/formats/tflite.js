// The gated MLP as a .tflite model: FULLY_CONNECTED, LOGISTIC and MUL, with weights in float32, int8 with one scale per
// output channel, or int4 in blocks of 32. Shapes are static. Used by peers/litert.js; names and numbers are the schema's.

import { encode, int32, string, table, uint8, vector, vectorOf } from './flatbuffer.js';
import { BLOCK, int4Blocks, int8Channels, nibbles } from './quantise.js';

/** @typedef {import('./flatbuffer.js').Child} Child */
/** @typedef {'f32' | 'int8' | 'int4'} Kind */

const SCHEMA_VERSION = 3;
const IDENTIFIER = 'TFL3';
const TYPES = { FLOAT32: 0, FLOAT16: 1, INT8: 9, INT4: 17 };
const OPERATORS = { FULLY_CONNECTED: 9, LOGISTIC: 14, MUL: 18 };
const NO_OPTIONS = 0;
const FULLY_CONNECTED_OPTIONS = 8;
const MUL_OPTIONS = 21;
const BLOCKWISE = 2;
/** What kernels read from must lie on this boundary. */
const DATA_ALIGN = 16;
/** Room for all that is not tensor data. */
const OVERHEAD_BYTES = 1 << 16;

/**
 * Quantised once, written for any number of tokens.
 * @param {import('../problem.js').Weights} weights
 * @param {Kind} kind
 * @returns {(tokens: number) => Uint8Array} the model: x [tokens, d] -> y [tokens, d]
 */
export function tfliteModels({ d, dFf, gate, up, down }, kind) {
  const held = {
    gate: hold(gate, dFf, d, kind),
    up: hold(up, dFf, d, kind),
    down: hold(down, d, dFf, kind),
  };
  return (tokens) => {
    const graph = new Graph();
    const x = graph.activation('x', [tokens, d]);
    const wide = ['gate', 'up', 'sigmoid', 'act', 'hidden'];
    const [z, u, sigmoid, act, hidden] = wide.map((name) => graph.activation(name, [tokens, dFf]));
    const y = graph.activation('y', [tokens, d]);
    graph.fullyConnected(x, graph.weight('gate_proj', held.gate), z);
    graph.fullyConnected(x, graph.weight('up_proj', held.up), u);
    graph.operator('LOGISTIC', [z], sigmoid, NO_OPTIONS, null);
    graph.operator('MUL', [z, sigmoid], act, MUL_OPTIONS, table(uint8(0)));
    graph.operator('MUL', [act, u], hidden, MUL_OPTIONS, table(uint8(0)));
    graph.fullyConnected(hidden, graph.weight('down_proj', held.down), y);
    return graph.encode(x, y);
  };
}

/**
 * @typedef {object} Held
 * @property {number[]} shape
 * @property {keyof typeof TYPES} type
 * @property {ArrayBufferView} data
 * @property {Float32Array} [channelScales]
 * @property {Uint16Array} [blockScales] float16
 */

/** @param {Float32Array} weight @param {number} rows @param {number} columns @param {Kind} kind @returns {Held} */
function hold(weight, rows, columns, kind) {
  const shape = [rows, columns];
  if (kind === 'f32') return { shape, type: 'FLOAT32', data: weight };
  if (kind === 'int8') {
    const { codes, scales } = int8Channels(weight, columns);
    return { shape, type: 'INT8', data: codes, channelScales: scales };
  }
  const { codes, scales } = int4Blocks(weight);
  return { shape, type: 'INT4', data: nibbles(codes, 0), blockScales: float16(scales) };
}

class Graph {
  /** @type {Child[]} */
  #tensors = [];
  /** The first buffer stands for "no data". @type {Child[]} */
  #buffers = [table()];
  /** @type {Child[]} */
  #operators = [];
  #bytes = OVERHEAD_BYTES;

  /** @param {string} name @param {number[]} shape */
  activation(name, shape) {
    return this.#tensor(name, shape, 'FLOAT32', 0, null);
  }

  /** @param {string} name @param {Held} held */
  weight(name, { shape, type, data, channelScales, blockScales }) {
    const buffer = this.#buffer(data);
    if (channelScales) {
      const zeroPoints = vector(new BigInt64Array(channelScales.length));
      const quantization = table(null, null, vector(channelScales), zeroPoints);
      this.#bytes += 12 * channelScales.length;
      return this.#tensor(name, shape, type, buffer, quantization);
    }
    if (!blockScales) return this.#tensor(name, shape, type, buffer, null);
    const scalesShape = [shape[0], shape[1] / BLOCK];
    const stored = this.#buffer(blockScales);
    const scales = this.#tensor(`${name}.scales`, scalesShape, 'FLOAT16', stored, null);
    const details = table(int32(scales), int32(-1), int32(BLOCK));
    const quantization = table(null, null, null, null, uint8(BLOCKWISE), details);
    return this.#tensor(name, shape, type, buffer, quantization);
  }

  /** @param {number} input @param {number} weight @param {number} output */
  fullyConnected(input, weight, output) {
    const asymmetricInputs = uint8(1);
    const options = table(uint8(0), uint8(0), uint8(0), asymmetricInputs);
    const noBias = -1;
    const inputs = [input, weight, noBias];
    this.operator('FULLY_CONNECTED', inputs, output, FULLY_CONNECTED_OPTIONS, options);
  }

  /**
   * @param {keyof typeof OPERATORS} name
   * @param {number[]} inputs
   * @param {number} output
   * @param {number} optionsType
   * @param {Child | null} options
   */
  operator(name, inputs, output, optionsType, options) {
    const code = int32(Object.keys(OPERATORS).indexOf(name));
    const [from, to] = [vector(Int32Array.from(inputs)), vector(Int32Array.of(output))];
    this.#operators.push(table(code, from, to, uint8(optionsType), options));
  }

  /** @param {number} input @param {number} output */
  encode(input, output) {
    const codes = Object.values(OPERATORS).map((code) =>
      table(uint8(code), null, int32(SUPPORTED_VERSION), int32(code)),
    );
    const subgraph = table(
      vectorOf(this.#tensors),
      vector(Int32Array.of(input)),
      vector(Int32Array.of(output)),
      vectorOf(this.#operators),
    );
    const model = table(
      int32(SCHEMA_VERSION),
      vectorOf(codes),
      vectorOf([subgraph]),
      string('gated MLP'),
      vectorOf(this.#buffers),
    );
    return encode(model, IDENTIFIER, this.#bytes);
  }

  /** @param {ArrayBufferView} data */
  #buffer(data) {
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    this.#bytes += bytes.length + 2 * DATA_ALIGN;
    return this.#buffers.push(table(vector(bytes, DATA_ALIGN))) - 1;
  }

  /**
   * @param {string} name
   * @param {number[]} shape
   * @param {keyof typeof TYPES} type
   * @param {number} buffer
   * @param {Child | null} quantization
   */
  #tensor(name, shape, type, buffer, quantization) {
    const dims = vector(Int32Array.from(shape));
    const fields = [dims, uint8(TYPES[type]), int32(buffer), string(name), quantization];
    return this.#tensors.push(table(...fields)) - 1;
  }
}

/** Version of the operators' semantics that covers blockwise weights; runtimes accept older uses under it. */
const SUPPORTED_VERSION = 1;

/** The bits of positive float16 numbers that lose nothing. @param {Float32Array} values */
function float16(values) {
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const [BIAS_DIFFERENCE, FRACTION_DIFFERENCE] = [127 - 15, 23 - 10];
  return Uint16Array.from(words, (bits, i) => {
    const half = (bits >>> FRACTION_DIFFERENCE) - (BIAS_DIFFERENCE << 10);
    if (half < 1 << 10 || half >= 31 << 10) throw new Error(`${values[i]} is no normal float16`);
    return half;
  });
}
