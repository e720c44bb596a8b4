// A static host as people have them: serves one folder under a sub-path, sets no header that has to be asked for, compresses
// text, knows ranges, and counts what goes over the wire.

import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { listen, parseRange } from '../../web/serve.js';
import { keepConnections } from './keep-connections.js';

const PREFIX = '/some/sub/path/';
/** What every static host knows, and no more. @type {Record<string, string>} */
const MIME_TYPES = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
  '.woff2': 'font/woff2',
};
const COMPRESSED = new Set(['.html', '.js', '.css', '.json', '.svg', '.wasm']);

/** @typedef {{ url: string, range: string, status: number, sentBefore: number }} Visit */

/**
 * @param {string} folder
 * @param {Record<string, string>} [always] headers of every answer: a host's habit, not the page's demand
 */
export async function startStaticHost(folder, always = {}) {
  const names = new Set(readdirSync(folder));
  /** @type {Visit[]} */
  const log = [];
  const host = { address: '', log, sent: 0, close: () => {} };
  const server = createServer((request, response) => {
    const { url = '', headers } = request;
    const { pathname } = new URL(url, 'http://localhost');
    const name = pathname.slice(PREFIX.length) || 'index.html';
    const visit = { url, range: headers.range ?? '', status: 404, sentBefore: host.sent };
    log.push(visit);
    response.on('finish', () => {
      host.sent += Number(response.getHeader('content-length'));
    });
    if (!pathname.startsWith(PREFIX) || !names.has(name)) {
      return void response.writeHead(404, { 'content-length': 0 }).end();
    }
    const { status, answer, body } = answerFor(join(folder, name), headers.range);
    visit.status = status;
    for (const [header, value] of Object.entries(always)) response.setHeader(header, value);
    response.setHeader('content-length', body.length);
    response.writeHead(status, answer).end(body);
  });
  keepConnections(server);
  host.address = (await listen(server, 0)).replace(/\/$/, PREFIX);
  host.close = () => {
    server.closeAllConnections();
    server.close();
  };
  return host;
}

/**
 * @param {string} path
 * @param {string | undefined} wanted the header
 */
function answerFor(path, wanted) {
  const bytes = readFileSync(path);
  const type = extname(path);
  /** @type {Record<string, string>} */
  const answer = { 'content-type': MIME_TYPES[type] ?? 'application/octet-stream' };
  const range = parseRange(wanted, bytes.length);
  if (range !== null && range !== 'unsatisfiable') {
    answer['content-range'] = `bytes ${range.start}-${range.end}/${bytes.length}`;
    return { status: 206, answer, body: bytes.subarray(range.start, range.end + 1) };
  }
  if (!COMPRESSED.has(type)) return { status: 200, answer, body: bytes };
  answer['content-encoding'] = 'gzip';
  return { status: 200, answer, body: gzipSync(bytes) };
}
