// Patience and privacy of the loader: retries that resume, Retry-After, replaced files, redirects between two origins, secrets
// that stay at home, silence. Single faults are in faults.test.js, ranges in http.test.js, the optional cache in cache.test.js.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { openCheckpoint, Runtime } from '../src/binding/index.js';
import { parseRetryAfter, retryDelay, retryOptions } from '../src/binding/retry.js';
import { failure } from './helpers/failure.js';
import { FaultServer } from './helpers/fault-server.js';
import { makeSafetensors, pattern } from './helpers/make-safetensors.js';

const RETRY = { baseDelay: 1, maxDelay: 20 };
const BIG = pattern(300_000, 1);
const TOKEN = 'hf_secretsecretsecret';
/** @param {Uint8Array} big @param {number} [pad] */
const fileOf = (big, pad = 0) =>
  makeSafetensors(
    {
      small: { dtype: 'U8', shape: [70_000], data: pattern(70_000, 2) },
      big: { dtype: 'U8', shape: [big.length], data: big },
    },
    { pad },
  );

/** @type {FaultServer} */
let home;
/** @type {FaultServer} another origin */
let away;
/** @type {Runtime} */
let runtime;

before(async () => {
  runtime = await Runtime.create();
  const file = fileOf(BIG);
  home = await FaultServer.start({ '/f.safetensors': file });
  away = await FaultServer.start({ '/f.safetensors': file });
});
after(() => Promise.all([home.close(), away.close()]));
beforeEach(() => {
  home.reset();
  home.files.set('/f.safetensors', fileOf(BIG));
  away.reset();
});

/** @param {import('../src/binding/checkpoint.js').OpenOptions} [options] */
const open = (options = {}) =>
  openCheckpoint(`${home.origin}/f.safetensors`, { runtime, retry: RETRY, ...options });

test('a broken download resumes at the last good byte instead of starting over', async () => {
  const checkpoint = await open();
  let reset = () => {};
  home.log = [];
  home.fault = ({ response, file, begin, end, index }) => {
    if (index > 3) return false;
    response.writeHead(206, {
      'content-range': `bytes ${begin}-${end - 1}/${file.length}`,
      'content-length': end - begin,
    });
    response.write(file.subarray(begin, begin + 50_000));
    reset = () => response.destroy();
    return true;
  };
  const onProgress = (/** @type {{ received: number }} */ { received }) => {
    if (received % 50_000 === 0) reset();
  };
  const { data } = await checkpoint.read('big', { onProgress });
  assert.deepEqual(data, BIG);
  assert.ok(home.log.length > 4);
  assert.equal(home.sent, 300_000, 'no byte came twice');
});

test('Retry-After is understood as seconds and as a date, and kept within the longest delay', () => {
  assert.equal(parseRetryAfter('3'), 3000);
  assert.equal(
    parseRetryAfter('Wed, 21 Oct 2015 07:28:00 GMT', Date.parse('Wed, 21 Oct 2015 07:27:30 GMT')),
    30_000,
  );
  assert.equal(parseRetryAfter('Wed, 21 Oct 2015 07:28:00 GMT'), 0);
  assert.equal(parseRetryAfter('soon'), null);
  assert.equal(parseRetryAfter(null), null);
  const retry = { tries: 5, baseDelay: 500, maxDelay: 60_000, idleTimeout: 30_000 };
  assert.equal(retryDelay(1, 3000, retry), 3000);
  assert.equal(retryDelay(1, 3_600_000, retry), 60_000);
  for (const [failed, longest] of [
    [1, 500],
    [2, 1000],
    [4, 4000],
  ]) {
    const delay = retryDelay(failed, null, retry);
    assert.ok(delay >= longest / 2 && delay <= longest, `${delay} after ${failed}`);
  }
});

test('429 with Retry-After ends in the right bytes, not in an error', async () => {
  const checkpoint = await open();
  home.fault = (x) =>
    x.index < 3 &&
    x.server.serve(x, { status: 429, headers: { 'retry-after': '0' }, body: Buffer.alloc(0) });
  assert.deepEqual((await checkpoint.read('big')).data, BIG);
});

test('an answer that never comes is given up after the idle timeout, in words', async () => {
  home.fault = () => true;
  const error = await failure(open({ retry: { ...RETRY, tries: 2, idleTimeout: 80 } }));
  assert.equal(error.code, 'ERR_HTTP');
  assert.equal(error.attempts, 2);
  assert.match(error.message, /no byte for 0\.08 s; 2 attempts/);
});

test('an abort during a wait between tries rejects at once with its reason', async () => {
  const controller = new AbortController();
  const fetch = async () => {
    // When the answer has been judged and the wait has begun.
    setImmediate(() => controller.abort('changed my mind'));
    return new Response(null, { status: 503, headers: { 'retry-after': '3600' } });
  };
  const opening = open({ fetch, retry: { maxDelay: 3_600_000 }, signal: controller.signal });
  assert.equal(await failure(opening), 'changed my mind');
});

test('a file replaced between two ranges is read anew from its start: never half of each', async () => {
  const checkpoint = await open();
  const next = pattern(300_000, 77);
  /** @type {number[]} */
  const seen = [];
  let reset = () => {};
  home.fault = ({ server, ...x }) => {
    home.fault = null;
    x.response.writeHead(206, {
      ...server.honestHeaders({ ...x, server }),
      'content-range': `bytes ${x.begin}-${x.end - 1}/${x.file.length}`,
      'content-length': x.end - x.begin,
    });
    x.response.write(x.file.subarray(x.begin, x.begin + 100_000));
    reset = () => x.response.destroy();
    home.files.set('/f.safetensors', fileOf(next));
    return true;
  };
  const { data } = await checkpoint.read('big', {
    onProgress({ received }) {
      seen.push(received);
      if (received === 100_000) reset();
    },
  });
  assert.deepEqual(data, next);
  assert.ok(seen.every((n) => n <= 300_000));
});

test('a file replaced between two pieces of its header is opened anew, or refused if that goes on', async () => {
  const long = (/** @type {number} */ seed) => fileOf(pattern(300_000, seed), 100_000);
  home.files.set('/f.safetensors', long(1));
  home.fault = (x) => {
    if (x.begin > 0) home.fault = null;
    if (x.begin > 0) home.files.set('/f.safetensors', long(2));
    return x.begin > 0 && x.server.serve({ ...x, file: long(2) });
  };
  const checkpoint = await open();
  assert.deepEqual((await checkpoint.read('big')).data, pattern(300_000, 2));
  home.fault = (x) => x.server.serve(x, { headers: { etag: `"${home.log.length}"` } });
  assert.match((await failure(open())).message, /changed again after a fresh start/);
});

test('a file whose length comes out only while it is read, and is too short, is an incomplete file', async () => {
  const whole = fileOf(BIG);
  /** @type {import('./helpers/fault-server.js').Fault} */
  const refuse = ({ response }) => {
    response.writeHead(416).end();
    return true;
  };
  // The tensor is cut off; it begins past the end, and 416 gives the length; or does not.
  for (const [length, fault] of /** @type {const} */ ([
    [whole.length - 1, null],
    [66_000, null],
    [66_000, refuse],
  ])) {
    home.files.set('/f.safetensors', whole.subarray(0, length));
    home.fault = (x) =>
      x.server.serve(x, { headers: { 'content-range': `bytes 0-${x.end - 1}/*` }, drop: ['etag'] });
    const checkpoint = await open({ retry: { ...RETRY, tries: 1 } });
    home.fault = fault;
    const error = await failure(checkpoint.read('big'));
    assert.equal(error.code, 'ERR_SAFETENSORS', String(length));
    assert.equal(error.kind, 'incomplete');
    assert.match(error.message, fault ? /ends/ : new RegExp(`${length}`));
  }
});

test('a whole file that ends before the range that was asked for says so', async () => {
  const checkpoint = await open();
  home.fault = (x) =>
    x.server.serve(
      { ...x, ranged: false },
      { body: x.file.subarray(0, 100), drop: ['content-length'] },
    );
  const error = await failure(checkpoint.read('big'));
  assert.match(error.message, /the answer ended before the range began/);
});

test('a redirect that goes round and round ends, also where each hop is followed by hand', async () => {
  home.fault = ({ response }) => {
    response.writeHead(302, { location: '/f.safetensors' }).end();
    return true;
  };
  const error = await failure(open({ token: TOKEN }));
  assert.equal(error.code, 'ERR_HTTP');
  assert.match(error.message, /more than 10 redirects/);
  assert.ok(home.log.length <= 22);
});

test('a file replaced by one with other tensors is an error that names the tensor', async () => {
  const checkpoint = await open();
  home.files.set(
    '/f.safetensors',
    makeSafetensors({ big: { dtype: 'U8', shape: [3], data: pattern(3) } }),
  );
  const error = await failure(checkpoint.read('big'));
  assert.equal(error.code, 'ERR_HTTP');
  assert.match(error.message, /replaced while it was read, and (small|big) is another tensor/);
});

test('a server without ranges or ETags whose file is replaced by one as long is noticed by its header', async () => {
  home.etag = false;
  home.fault = (x) => x.server.serve({ ...x, ranged: false });
  const original = fileOf(BIG, 2);
  home.files.set('/f.safetensors', original);
  const checkpoint = await open();
  const swapped = makeSafetensors({
    big: { dtype: 'U8', shape: [300_000], data: pattern(300_000, 8) },
    small: { dtype: 'U8', shape: [70_000], data: pattern(70_000, 9) },
  });
  assert.equal(swapped.length, original.length);
  home.files.set('/f.safetensors', swapped);
  assert.deepEqual((await checkpoint.read('big')).data, pattern(300_000, 8));
});

test('a config that changes between two answers is an error, not half of each', async () => {
  home.files.set(
    '/m/config.json',
    Buffer.from(JSON.stringify({ hidden_act: 'silu', more: 'x'.repeat(100) })),
  );
  home.files.set('/m/model.safetensors', fileOf(BIG));
  home.fault = (x) =>
    x.path.endsWith('.json') &&
    x.server.serve({ ...x, end: x.begin + 50 }, { headers: { etag: `"${home.log.length}"` } });
  const error = await failure(openCheckpoint(`${home.origin}/m`, { runtime, retry: RETRY }));
  assert.equal(error.code, 'ERR_HTTP');
  assert.match(error.message, /config\.json: another version of the file/);
});

test('a file that changes all the time is an error, not an endless restart', async () => {
  const checkpoint = await open();
  home.fault = (x) => x.server.serve(x, { headers: { etag: `"${home.log.length}"` } });
  const error = await failure(checkpoint.read('big'));
  assert.match(error.message, /ETag.*changed again after a fresh start/s);
});

test('a token and headers go to their own origin and never along a redirect', async () => {
  home.fault = ({ response }) => {
    response.writeHead(302, { location: `${away.origin}/f.safetensors` }).end();
    return true;
  };
  const checkpoint = await open({ token: TOKEN, headers: { 'x-api-key': TOKEN } });
  assert.deepEqual((await checkpoint.read('big')).data, BIG);
  assert.ok(home.log.length >= 2 && away.log.length >= 2);
  for (const { headers } of home.log) {
    assert.equal(headers.authorization, `Bearer ${TOKEN}`);
    assert.equal(headers['x-api-key'], TOKEN);
  }
  for (const { headers } of away.log) assert.ok(!JSON.stringify(headers).includes(TOKEN));
});

test('a redirect within the origin keeps the token', async () => {
  home.files.set('/g.safetensors', fileOf(BIG));
  home.fault = ({ response, path }) => {
    if (path !== '/f.safetensors') return false;
    response.writeHead(307, { location: '/g.safetensors' }).end();
    return true;
  };
  await open({ token: TOKEN });
  assert.ok(home.log.every(({ headers }) => headers.authorization === `Bearer ${TOKEN}`));
});

test('a password in a URL is refused without repeating it; a redirect to another scheme is not followed', async () => {
  const url = home.origin.replace('://', '://me:secret@');
  const error = await failure(openCheckpoint(`${url}/f.safetensors`, { runtime }));
  assert.equal(error.code, 'ERR_UNSUPPORTED');
  assert.ok(!`${error.message}${error.stack}`.includes('secret'));
  for (const token of [undefined, TOKEN]) {
    home.fault = ({ response }) => {
      response.writeHead(302, { location: 'data:text/plain,hello' }).end();
      return true;
    };
    assert.equal((await failure(open({ token }))).code, 'ERR_HTTP');
  }
});

test('an expired signed link (403 after a redirect) is asked for once more from the first URL', async () => {
  home.fault = ({ response }) => {
    response.writeHead(302, { location: `${away.origin}/f.safetensors?signature=1` }).end();
    return true;
  };
  const checkpoint = await open();
  away.fault = ({ response }) => {
    away.fault = null;
    response.writeHead(403).end();
    return true;
  };
  assert.deepEqual((await checkpoint.read('big')).data, BIG);
});

test('no message, no field of an error tells a token or the query of a URL', async () => {
  for (const status of [401, 403, 404, 500]) {
    home.fault = (x) => x.server.serve(x, { status, body: Buffer.alloc(0) });
    const error = await failure(
      openCheckpoint(`${home.origin}/f.safetensors?signature=${TOKEN}`, {
        runtime,
        retry: { ...RETRY, tries: 2 },
        token: TOKEN,
        headers: { 'x-api-key': TOKEN },
      }),
    );
    assert.equal(error.status, status);
    assert.ok(!`${error.message}${JSON.stringify(error)}${error.stack}`.includes('secret'));
  }
});

test('401 with and without a token, 403 and 404 are told apart in words', async () => {
  /** @param {number} status @param {string} [token] */
  const words = async (status, token) => {
    home.fault = (x) => x.server.serve(x, { status, body: Buffer.alloc(0) });
    return (await failure(open({ token }))).message;
  };
  assert.match(await words(401), /401: the server wants to know who asks\. Pass \{ token \}/);
  assert.match(await words(401, TOKEN), /401: the server does not accept the token/);
  assert.match(await words(403), /403: access is not granted/);
  assert.match(await words(404), /404: there is no such file/);
});

test('a failure that a browser does not explain names all that it may be, a missing file among them', async () => {
  const fetch = async () => {
    throw new TypeError('Failed to fetch');
  };
  const error = await failure(open({ fetch }));
  assert.equal(error.code, 'ERR_HTTP');
  assert.match(
    error.message,
    /no answer \(Failed to fetch\).*server up.*file there.*CORS.*5 attempts/,
  );
});

test('416 for a range that the file has is told as that, not as an empty answer', async () => {
  const refuse = (
    /** @type {import('./helpers/fault-server.js').Exchange} */ { response, file },
  ) => {
    response.writeHead(416, { 'content-range': `bytes */${file.length}` }).end();
    return true;
  };
  const checkpoint = await open();
  home.fault = refuse;
  for (const attempt of [() => open(), () => checkpoint.read('big')]) {
    const error = await failure(attempt());
    assert.equal(error.status, 416);
    assert.match(error.message, /416 for a range that the file has/);
  }
});

test('a header value that HTTP cannot carry is refused before any request, without repeating it', async () => {
  const error = await failure(open({ token: `${TOKEN}\nx` }));
  assert.match(error.message, /headers or token/);
  assert.ok(!error.message.includes('secret'));
  assert.equal(home.log.length, 0);
});

test('an abort is the reason that is given even when it was the last try', async () => {
  for (const path of ['f.safetensors', 'folder/', 'model.safetensors.index.json']) {
    const controller = new AbortController();
    home.fault = () => {
      controller.abort('enough');
      return true;
    };
    const { signal } = controller;
    const options = { runtime, retry: { ...RETRY, tries: 1 }, signal };
    assert.equal(await failure(openCheckpoint(`${home.origin}/${path}`, options)), 'enough', path);
  }
});

test('empty answers, and answers of one byte, end in an error after few requests', async () => {
  const checkpoint = await open();
  home.log = [];
  home.fault = (x) => x.server.serve(x, { body: Buffer.alloc(0) });
  const empty = await failure(checkpoint.read('big'));
  assert.match(empty.message, /the answer was empty; 5 attempts/);
  assert.equal(home.log.length, 5);
  home.fault = (x) => x.server.serve({ ...x, end: x.begin + 1 });
  const slow = await failure(checkpoint.read('big'));
  assert.match(slow.message, /only a few bytes at a time/);
  assert.ok(home.log.length < 1100, `${home.log.length} requests`);
});

test('a fetch that does not heed its signal cannot hold up an abort', async () => {
  const controller = new AbortController();
  /** @returns {Promise<Response>} */
  const fetch = () => {
    setImmediate(() => controller.abort('gone'));
    return new Promise(() => {});
  };
  assert.equal(await failure(open({ fetch, signal: controller.signal })), 'gone');
});

test('a read that waits for its turn ends at once when it is aborted', async () => {
  const checkpoint = await open({ concurrency: 1, firstBytes: 1024 });
  /** @type {(value?: undefined) => void} */
  let arrived = () => {};
  const first = new Promise((resolve) => {
    arrived = resolve;
  });
  home.fault = () => {
    arrived();
    return true; // never answered
  };
  const [slow, waiting] = [new AbortController(), new AbortController()];
  const held = failure(checkpoint.read('small', { signal: slow.signal }));
  await first;
  const second = failure(checkpoint.read('big', { signal: waiting.signal }));
  waiting.abort(new Error('not any more'));
  assert.equal((await second).message, 'not any more');
  slow.abort(new Error('nor this'));
  assert.equal((await held).message, 'nor this');
  home.fault = null;
  assert.deepEqual((await checkpoint.read('big')).data, BIG);
});

test('options of patience that are undefined are not given, and those that make no sense are refused', async () => {
  const none = {
    tries: undefined,
    baseDelay: undefined,
    maxDelay: undefined,
    idleTimeout: undefined,
  };
  assert.deepEqual(retryOptions(none), retryOptions({}));
  const checkpoint = await open({ retry: { idleTimeout: Infinity } });
  assert.deepEqual((await checkpoint.read('big')).data, BIG);
  for (const [
    retry,
    message,
  ] of /** @type {[import('../src/binding/retry.js').RetryOptions, RegExp][]} */ ([
    [{ tries: 0 }, /retry\.tries is 0/],
    [{ idleTimeout: 0 }, /retry\.idleTimeout is 0/],
    [{ baseDelay: -1 }, /retry\.baseDelay is -1/],
    [{ maxDelay: NaN }, /retry\.maxDelay is NaN/],
  ])) {
    await assert.rejects(open({ retry }), { code: 'ERR_SHAPE', message });
  }
  await assert.rejects(open({ concurrency: 0 }), {
    code: 'ERR_SHAPE',
    message: /concurrency is 0/,
  });
});
