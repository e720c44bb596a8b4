// What servers do to clients: each fault answers one request badly. For each it is said what a sound loader makes of it
// when it happens once and when it happens every time: the right bytes ('right'), or an error of that code.

import { gzipSync } from 'node:zlib';

/** @typedef {import('./fault-server.js').Exchange} Exchange */
/** @typedef {import('./fault-server.js').Fault} Fault */
/** @typedef {'right' | 'ERR_HTTP' | 'ERR_SAFETENSORS'} Outcome */
/** @typedef {{ name: string, answer: Fault, once: Outcome, always: Outcome, silent: boolean }} NamedFault silent: ends by patience alone */

/** @type {NamedFault[]} */
export const FAULTS = [];

/**
 * @param {string} name
 * @param {Outcome} once
 * @param {Outcome} always
 * @param {Fault} answer
 */
function fault(name, once, always, answer) {
  const silent = /silence|no answer at all/.test(name);
  FAULTS.push({ name, answer, once, always, silent });
}

/** @param {Exchange} x */
const bytes = ({ file, begin, end }) => file.subarray(begin, end);
/** @param {Exchange} x */
const rangeHeader = ({ file, begin, end }) => `bytes ${begin}-${end - 1}/${file.length}`;
/** @param {Exchange} x @param {Record<string, string>} [headers] */
const partHeaders = (x, headers = {}) => ({
  ...x.server.honestHeaders(x),
  'content-range': rangeHeader(x),
  ...headers,
});
/** @param {Exchange} x @param {number} n writes n bytes of a part and breaks the connection */
function breakAfter(x, n) {
  const body = bytes(x);
  x.response.writeHead(206, partHeaders(x, { 'content-length': String(body.length) }));
  x.response.flushHeaders();
  x.response.write(body.subarray(0, n), () => setImmediate(() => x.response.destroy()));
  return true;
}
/** @param {Exchange} x @param {string | Buffer} text */
function raw(x, text) {
  x.request.socket.end(text);
  return true;
}

/** @param {Buffer} body */
const half = (body) => body.subarray(0, body.length >> 1);

// ---- the connection
fault('connection reset before the answer', 'right', 'ERR_HTTP', ({ request }) => {
  request.socket.resetAndDestroy();
  return true;
});
fault('connection closed before the answer', 'right', 'ERR_HTTP', (x) => raw(x, ''));
fault('connection lost after the headers', 'right', 'ERR_HTTP', (x) => breakAfter(x, 0));
fault('connection lost after one byte', 'right', 'ERR_HTTP', (x) => breakAfter(x, 1));
fault('connection lost half-way', 'right', 'ERR_HTTP', (x) => breakAfter(x, bytes(x).length >> 1));
fault('connection lost one byte before the end', 'right', 'ERR_HTTP', (x) =>
  breakAfter(x, bytes(x).length - 1),
);
fault('no answer at all', 'right', 'ERR_HTTP', () => true);
fault('headers and then silence', 'right', 'ERR_HTTP', (x) => {
  x.response.writeHead(206, partHeaders(x, { 'content-length': String(bytes(x).length) }));
  x.response.flushHeaders();
  return true;
});
fault('silence half-way', 'right', 'ERR_HTTP', (x) => {
  const body = bytes(x);
  x.response.writeHead(206, partHeaders(x, { 'content-length': String(body.length) }));
  x.response.write(body.subarray(0, body.length >> 1));
  return true;
});
fault('all bytes and then silence, no length given', 'right', 'right', (x) => {
  x.response.writeHead(206, partHeaders(x));
  x.response.write(bytes(x));
  return true;
});
fault('a trickle', 'right', 'right', async (x) => {
  const body = bytes(x);
  x.response.writeHead(206, partHeaders(x, { 'content-length': String(body.length) }));
  for (let i = 0; i < 16; i++) {
    const at = (/** @type {number} */ k) => Math.floor((body.length * k) / 16);
    x.response.write(body.subarray(at(i), at(i + 1)));
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  x.response.end();
  return true;
});
fault('a clean end half-way, no length given', 'right', 'right', (x) => {
  const body = bytes(x);
  x.response.writeHead(206, { ...partHeaders(x), connection: 'close' });
  x.response.end(body.subarray(0, Math.ceil(body.length / 2)));
  return true;
});
fault('a chunked body without its last chunk', 'right', 'right', (x) =>
  raw(
    x,
    Buffer.concat([
      Buffer.from(
        `HTTP/1.1 206 Partial Content\r\ncontent-range: ${rangeHeader(x)}\r\ntransfer-encoding: chunked\r\n\r\n${bytes(x).length.toString(16)}\r\n`,
      ),
      bytes(x),
    ]),
  ),
);
fault('broken chunk framing', 'right', 'ERR_HTTP', (x) =>
  raw(
    x,
    `HTTP/1.1 206 Partial Content\r\ncontent-range: ${rangeHeader(x)}\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n`,
  ),
);
fault('something that is not HTTP', 'right', 'ERR_HTTP', (x) => raw(x, 'SSH-2.0-OpenSSH_9.2\r\n'));
fault('headers without end', 'right', 'ERR_HTTP', (x) =>
  raw(x, `HTTP/1.1 206 Partial Content\r\nx: ${'y'.repeat(40_000)}\r\n`),
);
fault('HTTP/1.0', 'right', 'right', (x) =>
  raw(
    x,
    Buffer.concat([
      Buffer.from(`HTTP/1.0 206 Partial Content\r\ncontent-range: ${rangeHeader(x)}\r\n\r\n`),
      bytes(x),
    ]),
  ),
);
fault('early hints before the answer', 'right', 'right', (x) => {
  x.response.writeEarlyHints({ link: '</style.css>; rel=preload; as=style' });
  return x.server.serve(x);
});

// ---- statuses
for (const status of [408, 425, 429, 500, 502, 503, 504, 520]) {
  fault(`status ${status}`, 'right', 'ERR_HTTP', (x) =>
    x.server.serve(x, { status, body: Buffer.from('busy') }),
  );
}
for (const [what, value] of [
  ['no seconds', '0'],
  ['an hour', '3600'],
  ['a date in the past', 'Wed, 21 Oct 2015 07:28:00 GMT'],
  ['nonsense', 'soon'],
]) {
  fault(`status 503, Retry-After: ${what}`, 'right', 'ERR_HTTP', (x) =>
    x.server.serve(x, { status: 503, headers: { 'retry-after': value }, body: Buffer.alloc(0) }),
  );
}
for (const status of [201, 202, 203, 300, 400, 401, 402, 403, 404, 405, 406, 410, 418, 451]) {
  fault(`status ${status}`, 'ERR_HTTP', 'ERR_HTTP', (x) =>
    x.server.serve(x, { status, body: Buffer.from('no') }),
  );
}
for (const status of [204, 304]) {
  fault(`status ${status}`, 'ERR_HTTP', 'ERR_HTTP', ({ response }) => {
    response.writeHead(status).end();
    return true;
  });
}
fault('416 for a range that the file has', 'right', 'ERR_HTTP', ({ response, file }) => {
  response.writeHead(416, { 'content-range': `bytes */${file.length}` }).end();
  return true;
});

// ---- ranges
fault('the whole file', 'right', 'right', (x) => x.server.serve({ ...x, ranged: false }));
fault('the whole file without a length', 'right', 'right', (x) =>
  x.server.serve({ ...x, ranged: false }, { drop: ['content-length'] }),
);
fault('the whole file, compressed', 'right', 'right', (x) =>
  x.server.serve(
    { ...x, ranged: false },
    { headers: { 'content-encoding': 'gzip' }, body: gzipSync(x.file), drop: ['content-length'] },
  ),
);
fault('the whole file, cut short and said to be whole', 'right', 'ERR_SAFETENSORS', (x) =>
  x.server.serve(
    { ...x, ranged: false },
    {
      body: x.file.subarray(0, x.file.length - 1000),
      headers: { 'content-length': String(x.file.length - 1000) },
    },
  ),
);
fault('the whole file, compressed and cut short', 'right', 'ERR_HTTP', (x) =>
  x.server.serve(
    { ...x, ranged: false },
    {
      headers: { 'content-encoding': 'gzip' },
      body: half(gzipSync(x.file)),
      drop: ['content-length'],
    },
  ),
);
fault('a part of the compressed file', 'right', 'ERR_HTTP', (x) =>
  x.server.serve(x, {
    headers: { 'content-encoding': 'gzip' },
    body: gzipSync(bytes(x)),
    drop: ['content-length'],
  }),
);
fault('an encoding that the body does not have', 'right', 'ERR_HTTP', (x) =>
  x.server.serve(
    { ...x, ranged: false },
    { headers: { 'content-encoding': 'gzip' }, drop: ['content-length'] },
  ),
);
fault('the encoding "identity"', 'right', 'right', (x) =>
  x.server.serve(x, { headers: { 'content-encoding': 'identity' } }),
);
fault('a range that begins later', 'right', 'ERR_HTTP', (x) =>
  x.server.serve({ ...x, begin: Math.min(x.begin + 1, x.end - 1) }),
);
fault('a range that begins earlier', 'right', 'ERR_HTTP', (x) =>
  x.server.serve(x, {
    headers: {
      'content-range': `bytes ${Math.max(0, x.begin - 1) + Number(x.begin === 0)}-${x.end - 1}/${x.file.length}`,
    },
  }),
);
fault('the first bytes for any range', 'right', 'ERR_HTTP', (x) =>
  x.server.serve({ ...x, begin: 0, end: x.end - x.begin, ...(x.begin === 0 ? { begin: 1 } : {}) }),
);
fault('a shorter range, and it says so', 'right', 'right', (x) =>
  x.server.serve({ ...x, end: x.begin + Math.ceil((x.end - x.begin) / 3) }),
);
fault('4 KB at a time', 'right', 'right', (x) =>
  x.server.serve({ ...x, end: Math.min(x.end, x.begin + 4096) }),
);
fault('a longer range', 'right', 'right', (x) => x.server.serve({ ...x, end: x.file.length }));
fault('a longer body than the range it names', 'right', 'right', (x) => {
  const body = x.file.subarray(x.begin, Math.min(x.file.length, x.end + 100));
  return x.server.serve(x, { body });
});
fault('no Content-Range', 'right', 'right', (x) => x.server.serve(x, { drop: ['content-range'] }));
fault('no Content-Range and no length', 'right', 'right', (x) =>
  x.server.serve(x, { drop: ['content-range', 'content-length'] }),
);
fault('a Content-Range with unknown total', 'right', 'right', (x) =>
  x.server.serve(x, { headers: { 'content-range': `bytes ${x.begin}-${x.end - 1}/*` } }),
);
for (const [what, value] of [
  ['without total', 'bytes 0-9'],
  ['in another unit', 'items 0-9/10'],
  ['with an equals sign', 'bytes=0-9/10'],
  ['with negative numbers', 'bytes -5-9/10'],
  ['with words', 'bytes from here'],
  ['of an unsatisfied range', 'bytes */10'],
]) {
  fault(`a Content-Range ${what}`, 'right', 'ERR_HTTP', (x) =>
    x.server.serve(x, { headers: { 'content-range': value } }),
  );
}
fault('a Content-Range that ends before it begins', 'right', 'ERR_HTTP', (x) =>
  x.server.serve(x, {
    headers: { 'content-range': `bytes ${x.begin}-${x.begin - 1}/${x.file.length}` },
  }),
);
fault('a total one byte too large', 'right', 'ERR_SAFETENSORS', (x) =>
  x.server.serve(x, {
    headers: { 'content-range': `bytes ${x.begin}-${x.end - 1}/${x.file.length + 1}` },
  }),
);
fault('several ranges in one answer', 'right', 'ERR_HTTP', (x) =>
  x.server.serve(x, {
    headers: { 'content-type': 'multipart/byteranges; boundary=x' },
    drop: ['content-range'],
  }),
);
fault('an empty part', 'right', 'ERR_HTTP', (x) => x.server.serve(x, { body: Buffer.alloc(0) }));
fault('a length larger than the body', 'right', 'ERR_HTTP', (x) => {
  raw(
    x,
    Buffer.concat([
      Buffer.from(
        `HTTP/1.1 206 Partial Content\r\ncontent-range: ${rangeHeader(x)}\r\ncontent-length: ${bytes(x).length + 50}\r\n\r\n`,
      ),
      bytes(x).subarray(0, 100),
    ]),
  );
  return true;
});
fault('a length smaller than the body', 'right', 'right', (x) =>
  raw(
    x,
    Buffer.concat([
      Buffer.from(
        `HTTP/1.1 206 Partial Content\r\ncontent-range: ${rangeHeader(x)}\r\ncontent-length: ${Math.ceil(bytes(x).length / 2)}\r\n\r\n`,
      ),
      bytes(x),
    ]),
  ),
);
fault('the type text/html on the right bytes', 'right', 'right', (x) =>
  x.server.serve(x, { headers: { 'content-type': 'text/html' } }),
);

// ---- something else instead
for (const [what, body] of [
  ['an HTML page', '<!doctype html><title>Sign in</title>'],
  ['a JSON error', '{"error":"try later"}'],
  ['a Git LFS pointer', 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n'],
  ['nothing', ''],
]) {
  fault(`status 200 and ${what}`, 'right', 'ERR_SAFETENSORS', (x) =>
    x.server.serve({ ...x, ranged: false }, { body: Buffer.from(body) }),
  );
}

// ---- versions
fault('another ETag', 'right', 'ERR_HTTP', (x) =>
  x.server.serve(x, { headers: { etag: `"${x.server.log.length}"` } }),
);
fault('another date and no ETag', 'right', 'ERR_HTTP', (x) =>
  x.server.serve(x, {
    headers: { 'last-modified': new Date(1e12 + x.server.log.length * 1e6).toUTCString() },
    drop: ['etag'],
  }),
);
fault('a weak form of the ETag', 'right', 'right', (x) => {
  const { etag } = /** @type {Record<string, string>} */ (x.server.honestHeaders(x));
  return x.server.serve(x, { headers: { etag: `W/${etag}` } });
});
fault('no ETag', 'right', 'right', (x) => x.server.serve(x, { drop: ['etag'] }));

// ---- redirects
for (const status of [301, 302, 303, 307, 308]) {
  fault(`status ${status} to another path`, 'right', 'right', ({ response, path, request }) => {
    if (path.startsWith('/moved')) return false;
    response.writeHead(status, { location: `/moved${request.url}` }).end();
    return true;
  });
}
fault('a redirect to itself', 'right', 'ERR_HTTP', ({ response, request }) => {
  response.writeHead(302, { location: String(request.url) }).end();
  return true;
});
fault('a redirect to nowhere', 'ERR_HTTP', 'ERR_HTTP', ({ response }) => {
  response.writeHead(302).end();
  return true;
});
fault('a redirect to a place that refuses', 'right', 'ERR_HTTP', ({ response, path, request }) => {
  if (path.startsWith('/moved')) response.writeHead(403).end();
  else response.writeHead(302, { location: `/moved${request.url}` }).end();
  return true;
});
