/// <reference types="node" />
// The development server of the page: static files of the repository over HTTP/1.1, with byte ranges (the loader
// reads one layer out of a file), gzip for text and the right MIME types. No build step, no dependency; a browser asks each
// time, and is told where it has the file already: page and worker import many of the same modules.
// `npm start` runs it; the browser tests import createPageServer. It is not meant for the open internet.

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize, sep } from 'node:path';
import { pipeline } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { constants, createGzip } from 'node:zlib';

const REPOSITORY = fileURLToPath(new URL('..', import.meta.url));
const DEFAULT_PORT = 8080;

/** @type {Record<string, string>} */
const MIME_TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.woff2': 'font/woff2',
  '.png': 'image/png',
  '.safetensors': 'application/octet-stream',
};
/** '': lists such as SHA256SUMS. */
const COMPRESSIBLE = new Set(['.html', '.js', '.css', '.json', '.svg', '.txt', '.wasm', '']);

/** @typedef {{ start: number, end: number }} ByteRange `end` is inclusive, as in the header */

/**
 * One byte range of `bytes=a-b`, `bytes=a-` or `bytes=-n`.
 * @param {string | undefined} header
 * @param {number} size
 * @returns {ByteRange | null | 'unsatisfiable'} null: send the whole file
 */
export function parseRange(header, size) {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
  if (match === null || (match[1] === '' && match[2] === '')) return null;
  const start = match[1] === '' ? Math.max(0, size - Number(match[2])) : Number(match[1]);
  const end = match[1] === '' || match[2] === '' ? size - 1 : Math.min(Number(match[2]), size - 1);
  return start > end || start >= size ? 'unsatisfiable' : { start, end };
}

/**
 * The file a URL path stands for, or null where it would leave the root or name something hidden.
 * @param {string} root
 * @param {string} urlPath
 */
function fileFor(root, urlPath) {
  let decoded;
  try {
    decoded = decodeURIComponent(urlPath);
  } catch {
    return null;
  }
  const path = normalize(join(root, decoded.endsWith('/') ? `${decoded}index.html` : decoded));
  const base = root.endsWith(sep) ? root : root + sep;
  const hidden = path
    .slice(base.length)
    .split(sep)
    .some((part) => part.startsWith('.'));
  return path.startsWith(base) && !hidden && !decoded.includes('\0') ? path : null;
}

/**
 * @param {import('node:http').ServerResponse} response
 * @param {number} status
 * @param {string} text
 * @param {Record<string, string>} [headers]
 */
function sendText(response, status, text, headers = {}) {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...headers });
  response.end(`${text}\n`);
}

/**
 * @param {import('node:http').IncomingMessage} request
 * @param {import('node:http').ServerResponse} response
 * @param {string} path
 */
async function sendFile(request, response, path) {
  const info = await stat(path).catch(() => null);
  if (info === null || !info.isFile()) return sendText(response, 404, 'Not found');
  const extension = extname(path);
  /** @type {Record<string, string | number>} */
  const headers = {
    'content-type': MIME_TYPES[extension] ?? 'application/octet-stream',
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    // Weak, for the same tag stands for the file as it is and compressed.
    etag: `W/"${info.size}-${info.mtimeMs}"`,
  };
  const range = parseRange(request.headers.range, info.size);
  if (range === 'unsatisfiable') {
    return sendText(response, 416, 'Range not satisfiable', {
      'content-range': `bytes */${info.size}`,
    });
  }
  if (range === null && request.headers['if-none-match'] === headers.etag) {
    response.writeHead(304, headers);
    return response.end();
  }
  const zip =
    range === null &&
    COMPRESSIBLE.has(extension) &&
    /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
  if (zip) {
    headers['content-encoding'] = 'gzip';
    headers.vary = 'accept-encoding';
  } else {
    headers['accept-ranges'] = 'bytes';
    headers['content-length'] = range === null ? info.size : range.end - range.start + 1;
    if (range !== null) headers['content-range'] = `bytes ${range.start}-${range.end}/${info.size}`;
  }
  response.writeHead(range === null ? 200 : 206, headers);
  if (request.method === 'HEAD') return response.end();
  const file = createReadStream(path, range ?? {});
  // A reader that goes away in the middle of a file is its own business; nothing is left to tell it.
  const done = () => {};
  return zip
    ? pipeline(file, createGzip({ level: constants.Z_BEST_COMPRESSION }), response, done)
    : pipeline(file, response, done);
}

/**
 * A server for the repository: `/` leads to `/web/`.
 * @param {{ root?: string }} [options]
 */
export function createPageServer({ root = REPOSITORY } = {}) {
  return createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return sendText(response, 405, 'Only GET and HEAD', { allow: 'GET, HEAD' });
    }
    if (pathname === '/')
      return sendText(response, 302, 'The page is at /web/', { location: '/web/' });
    if (pathname === '/web')
      return sendText(response, 301, 'The page is at /web/', { location: '/web/' });
    const path = fileFor(root, pathname);
    if (path === null) return sendText(response, 404, 'Not found');
    return sendFile(request, response, path);
  });
}

/**
 * Listens on `port`, or on a free one where it is 0.
 * @param {import('node:http').Server} server
 * @param {number} port
 * @param {string} [host]
 * @returns {Promise<string>} the address
 */
export function listen(server, port, host = '127.0.0.1') {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      const address = server.address();
      const bound = typeof address === 'object' && address !== null ? address.port : port;
      resolve(`http://localhost:${bound}/`);
    });
  });
}

/** Where no PORT is asked for and the usual one is taken, a free one does as well. */
async function main() {
  const asked = process.env.PORT;
  const server = createPageServer();
  const address = await listen(server, Number(asked ?? DEFAULT_PORT)).catch((error) => {
    if (asked !== undefined || error.code !== 'EADDRINUSE') throw error;
    return listen(server, 0);
  });
  process.stdout.write(`The page is at ${address}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main().catch((error) => {
    process.stderr.write(`The page cannot be served: ${error.message}\n`);
    process.exitCode = 1;
  });
}
