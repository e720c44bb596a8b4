// A real HTTP server on a loopback port that serves files from memory, with ranges, counts every byte it sends, and
// misbehaves on request: a fault may answer a request in its own way instead. faults.js has the list of faults.

import { createServer } from 'node:http';
import { keepConnections } from './keep-connections.js';

/**
 * @typedef {object} Exchange
 * @property {import('node:http').IncomingMessage} request
 * @property {import('node:http').ServerResponse} response
 * @property {string} path
 * @property {Buffer} file
 * @property {number} begin first byte asked for
 * @property {number} end one past the last
 * @property {boolean} ranged whether a range was asked for
 * @property {number} index how many requests for this path came before
 * @property {FaultServer} server
 */
/** @typedef {(exchange: Exchange) => boolean | void | Promise<boolean | void>} Fault true: it has answered */
/** @typedef {{ method: string, path: string, range: string | null, headers: import('node:http').IncomingHttpHeaders, sent: number }} LogEntry */

/** @type {Record<string, string>} */
const TYPES = {
  html: 'text/html',
  js: 'text/javascript',
  wasm: 'application/wasm',
  json: 'application/json',
};

export class FaultServer {
  /** @type {Map<string, Buffer>} path -> content */
  files = new Map();
  /** @type {LogEntry[]} */
  log = [];
  /** The most that were waiting for the end of their answer at once. */
  mostActive = 0;
  /** @type {Set<import('node:http').ServerResponse>} */
  #unanswered = new Set();
  /** Connection by response, until either is closed. @type {Map<import('node:http').ServerResponse, import('node:net').Socket>} */
  #open = new Map();
  /** @type {Fault | null} */
  fault = null;
  /** Headers of every honest answer. @type {Record<string, string>} */
  headers = {};
  etag = true;
  #server;
  /** @type {Set<import('node:net').Socket>} */
  #sockets = new Set();

  /** @param {Record<string, Buffer | string>} files */
  static async start(files) {
    const server = new FaultServer(files);
    await new Promise((resolve) => server.#server.listen(0, '127.0.0.1', () => resolve(null)));
    return server;
  }

  /** @param {Record<string, Buffer | string>} files */
  constructor(files) {
    for (const [path, content] of Object.entries(files)) this.files.set(path, Buffer.from(content));
    this.#server = createServer((request, response) => this.#handle(request, response));
    keepConnections(this.#server);
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('error', () => {});
    });
  }

  get origin() {
    const { port } = /** @type {import('node:net').AddressInfo} */ (this.#server.address());
    return `http://127.0.0.1:${port}`;
  }

  /** Resolves when no connection has a request left. A connection that is reset may close without its response. */
  async idle() {
    for (;;) {
      const [response, socket] = [...this.#open].find(([, s]) => !s.destroyed) ?? [];
      if (!response || !socket) return;
      await new Promise((resolve) => {
        const onClose = () => {
          response.off('close', onClose);
          socket.off('close', onClose);
          resolve(undefined);
        };
        response.on('close', onClose);
        socket.on('close', onClose);
      });
    }
  }

  /** Bytes of bodies sent so far. */
  get sent() {
    return this.log.reduce((sum, entry) => sum + entry.sent, 0);
  }

  /** Forgets what has been counted, and the fault. */
  reset() {
    this.log = [];
    this.mostActive = 0;
    this.fault = null;
    this.headers = {};
    this.etag = true;
  }

  async close() {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /**
   * @param {import('node:http').IncomingMessage} request
   * @param {import('node:http').ServerResponse} response
   */
  async #handle(request, response) {
    const path = decodeURIComponent(new URL(request.url ?? '/', this.origin).pathname);
    const range = request.headers.range ?? null;
    const index = this.log.filter((entry) => entry.path === path).length;
    const entry = { method: request.method ?? '', path, range, headers: request.headers, sent: 0 };
    this.log.push(entry);
    this.#open.set(response, request.socket);
    this.#unanswered.add(response);
    this.mostActive = Math.max(this.mostActive, this.#unanswered.size);
    // Sent whole comes before the client's next request, closed may come after it.
    response.on('finish', () => this.#unanswered.delete(response));
    response.on('close', () => {
      this.#unanswered.delete(response);
      this.#open.delete(response);
    });
    response.on('error', () => {});
    count(response, entry);
    if (request.method === 'OPTIONS') return void response.writeHead(204, this.headers).end();
    const file = this.files.get(path) ?? Buffer.alloc(0);
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? [
      null,
      '0',
      String(file.length - 1),
    ];
    const begin = Number(first);
    const end = Math.min(Number(last) + 1, file.length);
    const exchange = {
      request,
      response,
      path,
      file,
      begin,
      end,
      ranged: range !== null,
      index,
      server: this,
    };
    if (this.fault && (await this.fault(exchange)) === true) return;
    if (!this.files.has(path)) return void response.writeHead(404).end('not found');
    this.serve(exchange);
  }

  /** @param {Exchange} exchange */
  honestHeaders({ file, path }) {
    return {
      'accept-ranges': 'bytes',
      'content-type': TYPES[path.slice(path.lastIndexOf('.') + 1)] ?? 'application/octet-stream',
      ...(this.etag ? { etag: etagOf(file) } : {}),
      ...this.headers,
    };
  }

  /**
   * The honest answer, with other headers, status or bytes where a fault wants them.
   * @param {Exchange} exchange
   * @param {{ status?: number, headers?: Record<string, string>, body?: Buffer, drop?: string[] }} [change]
   */
  serve(exchange, { status, headers = {}, body, drop = [] } = {}) {
    const { response, file, begin, end, ranged } = exchange;
    if (ranged && begin >= file.length && status === undefined) {
      response.writeHead(416, { 'content-range': `bytes */${file.length}` }).end();
      return true;
    }
    const content = body ?? (ranged ? file.subarray(begin, end) : file);
    /** @type {Record<string, string>} */
    const all = {
      ...this.honestHeaders(exchange),
      'content-length': String(content.length),
      ...(ranged ? { 'content-range': `bytes ${begin}-${end - 1}/${file.length}` } : {}),
      ...headers,
    };
    for (const name of drop) delete all[name];
    response.writeHead(status ?? (ranged ? 206 : 200), all);
    response.end(content);
    return true;
  }
}

/** @param {Buffer} file */
export function etagOf(file) {
  let hash = file.length;
  for (let i = 0; i < file.length; i += 997) hash = (Math.imul(hash, 31) + file[i]) >>> 0;
  return `"${hash.toString(16)}"`;
}

/**
 * @param {import('node:http').ServerResponse} response
 * @param {LogEntry} entry
 */
function count(response, entry) {
  const { write, end } = response;
  /** @param {unknown} chunk */
  const add = (chunk) => {
    if (typeof chunk === 'string' || Buffer.isBuffer(chunk)) entry.sent += chunk.length;
  };
  Object.assign(response, {
    /** @param {unknown[]} values */
    write(...values) {
      add(values[0]);
      return Reflect.apply(write, response, values);
    },
    /** @param {unknown[]} values */
    end(...values) {
      // end() hands what it is given to write() only where the head has been sent.
      const before = entry.sent;
      Reflect.apply(end, response, values);
      if (entry.sent === before) add(values[0]);
      return response;
    },
  });
}
