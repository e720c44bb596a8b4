// The gated MLP as an ONNX model: float32 MatMul, ONNX Runtime's DynamicQuantizeMatMul (int8 per output channel) and
// its MatMulNBits (blocks of 32). Used by peers/ort.js. Field numbers are those of onnx.proto.

import { bytes, encode, int, message, nested } from './protobuf.js';
import { BLOCK, int4Blocks, int8Channels, nibbles, transpose } from './quantise.js';

/** @typedef {import('./protobuf.js').Message} Message */
/** @typedef {import('../problem.js').Weights} Weights */
/** @typedef {'f32' | 'int8' | 'int4'} Kind */

const IR_VERSION = 8;
const OPSET = 17;
const CONTRIB = 'com.microsoft';
/** TensorProto.DataType */
const TYPES = { float: 1, uint8: 2, int8: 3 };
/** What MatMulNBits subtracts from a 4-bit code where it is given no zero points. */
const INT4_ZERO_POINT = 8;
/** AttributeProto.AttributeType */
const ATTRIBUTE_INT = 2;

/**
 * @param {Weights} weights
 * @param {Kind} kind
 * @returns {Uint8Array} x [tokens, d] -> y [tokens, d]
 */
export function onnxModel(weights, kind) {
  const { d } = weights;
  /** @type {Message[]} */
  const initializers = [];
  const projections = {
    gate: projection('gate', 'x', weights.gate, weights.dFf, d, kind, initializers),
    up: projection('up', 'x', weights.up, weights.dFf, d, kind, initializers),
    down: projection('down', 'hidden', weights.down, d, weights.dFf, kind, initializers),
  };
  const graph = message(
    nested(1, projections.gate),
    nested(1, projections.up),
    nested(1, node('Sigmoid', ['gate'], 'sigmoid')),
    nested(1, node('Mul', ['gate', 'sigmoid'], 'act')),
    nested(1, node('Mul', ['act', 'up'], 'hidden')),
    nested(1, projections.down),
    bytes(2, 'gated_mlp'),
    ...initializers.map((tensor) => nested(5, tensor)),
    nested(11, valueInfo('x', d)),
    nested(12, valueInfo('down', d)),
  );
  return encode(
    message(
      int(1, IR_VERSION),
      nested(7, graph),
      nested(8, message(bytes(1, ''), int(2, OPSET))),
      nested(8, message(bytes(1, CONTRIB), int(2, 1))),
    ),
  );
}

/**
 * One linear layer: its node, and its weights added to the initializers.
 * @param {string} name also of its output
 * @param {string} input
 * @param {Float32Array} weight [rows, columns]
 * @param {number} rows
 * @param {number} columns
 * @param {Kind} kind
 * @param {Message[]} initializers
 */
function projection(name, input, weight, rows, columns, kind, initializers) {
  /** @param {string} part @param {'float' | 'uint8' | 'int8'} type @param {number[]} dims @param {ArrayBufferView} data */
  const add = (part, type, dims, data) => {
    initializers.push(tensor(`${name}.${part}`, type, dims, data));
    return `${name}.${part}`;
  };
  if (kind === 'f32') {
    const data = transpose(weight, rows, columns);
    return node('MatMul', [input, add('weight', 'float', [columns, rows], data)], name);
  }
  if (kind === 'int8') {
    const { codes, scales } = int8Channels(weight, columns);
    const data = transpose(codes, rows, columns);
    const inputs = [
      input,
      add('weight', 'int8', [columns, rows], data),
      add('scale', 'float', [rows], scales),
    ];
    return node('DynamicQuantizeMatMul', inputs, name, CONTRIB);
  }
  const { codes, scales } = int4Blocks(weight);
  const packed = nibbles(codes, INT4_ZERO_POINT);
  const blocks = columns / BLOCK;
  const inputs = [
    input,
    add('weight', 'uint8', [rows, blocks, BLOCK / 2], packed),
    add('scales', 'float', [rows * blocks], scales),
  ];
  const attributes = { K: columns, N: rows, bits: 4, block_size: BLOCK };
  return node('MatMulNBits', inputs, name, CONTRIB, attributes);
}

/**
 * @param {string} operator
 * @param {string[]} inputs
 * @param {string} output
 * @param {string} [domain]
 * @param {Record<string, number>} [attributes] integers
 */
function node(operator, inputs, output, domain = '', attributes = {}) {
  return message(
    ...inputs.map((name) => bytes(1, name)),
    bytes(2, output),
    bytes(4, operator),
    ...Object.entries(attributes).map(([name, value]) =>
      nested(5, message(bytes(1, name), int(3, value), int(20, ATTRIBUTE_INT))),
    ),
    bytes(7, domain),
  );
}

/** @param {string} name @param {keyof typeof TYPES} type @param {number[]} dims @param {ArrayBufferView} data */
function tensor(name, type, dims, data) {
  return message(
    ...dims.map((size) => int(1, size)),
    int(2, TYPES[type]),
    bytes(8, name),
    bytes(9, data),
  );
}

/** @param {string} name @param {number} width */
function valueInfo(name, width) {
  const shape = message(nested(1, message(bytes(2, 'tokens'))), nested(1, message(int(1, width))));
  const type = message(nested(1, message(int(1, TYPES.float), nested(2, shape))));
  return message(bytes(1, name), nested(2, type));
}
