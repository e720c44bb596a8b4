// A process of its own that serves one folder by HTTP ranges and counts, so that what it needs is no part of what the
// loader needs. run.js starts it with the folder as its argument; it sends its address, then its figures whenever asked.

import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { join, normalize } from 'node:path';

/**
 * @typedef {object} Figures
 * @property {Record<string, { requests: number, bytes: number }>} files by path: requests that came, bytes of bodies sent
 * @property {number} mostInFlight requests whose answer was not yet sent, at most
 * @property {string[]} unexpected requests that were no GET of a closed range, of a file that is there
 */

const folder = process.argv[2];
/** @type {Figures} */
let figures = { files: {}, mostInFlight: 0, unexpected: [] };
let inFlight = 0;

const server = createServer((request, response) => {
  const path = normalize(decodeURIComponent(new URL(request.url ?? '/', 'http://x').pathname));
  figures.files[path] ??= { requests: 0, bytes: 0 };
  const counted = figures.files[path];
  counted.requests += 1;
  inFlight += 1;
  figures.mostInFlight = Math.max(figures.mostInFlight, inFlight);
  response.once('close', () => {
    inFlight -= 1;
  });
  const file = join(folder, path);
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
  if (request.method !== 'GET' || first === undefined) {
    figures.unexpected.push(`${request.method} ${path} ${request.headers.range ?? 'whole'}`);
  }
  if (!existsSync(file)) return void response.writeHead(404).end();
  const { size, mtimeMs } = statSync(file);
  const [begin, end] = [Number(first ?? 0), Math.min(Number(last ?? size - 1), size - 1)];
  response.writeHead(first === undefined ? 200 : 206, {
    'content-length': end - begin + 1,
    'content-range': `bytes ${begin}-${end}/${size}`,
    etag: `"${size}-${mtimeMs}"`,
  });
  const body = createReadStream(file, { start: begin, end });
  body.on('data', (chunk) => {
    counted.bytes += chunk.length;
  });
  body.pipe(response);
});

server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  process.send?.({ address: `http://127.0.0.1:${port}/` });
});
process.on('message', () => {
  process.send?.({ figures });
  figures = { files: {}, mostInFlight: inFlight, unexpected: [] };
});
process.on('disconnect', () => process.exit());
