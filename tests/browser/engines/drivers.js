// Three engines behind one small driver: Chromium by playwright-core, Firefox by Marionette (its own WebDriver, JSON over
// TCP), WebKit by WebKitWebDriver (W3C WebDriver over HTTP) under a virtual screen. A driver opens an address, runs a piece
// of JavaScript in the page and gives back what it returns, and closes. Nothing has to be installed from npm for them.

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launchBrowser } from '../../helpers/browser.js';
import { findProgram } from '../../helpers/tools.js';

/**
 * @typedef {object} Driver
 * @property {string} name
 * @property {(address: string) => Promise<void>} open
 * @property {(code: string) => Promise<any>} run a function body; its return value must be JSON
 * @property {() => Promise<void>} close
 */

const START_MS = 60_000;

/** @param {number} ms */
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** A port that was free a moment ago. @returns {Promise<number>} */
function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
      server.close(() => resolve(port));
    });
  });
}

/**
 * Tries until it works or the time for starting is over.
 * @template T
 * @param {() => Promise<T>} attempt
 * @returns {Promise<T>}
 */
async function eventually(attempt) {
  const end = Date.now() + START_MS;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > end) throw error;
      await pause(200);
    }
  }
}

/** @returns {Promise<Driver>} */
export async function startChromium() {
  const browser = await launchBrowser();
  const tab = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  return {
    name: `Chromium ${browser.version()}`,
    open: async (address) => void (await tab.goto(address)),
    run: (code) => tab.evaluate(`(() => { ${code} })()`),
    close: () => browser.close(),
  };
}

/** Marionette's framing: the length of the JSON, a colon, the JSON. */
class Marionette {
  #socket;
  #received = Buffer.alloc(0);
  #id = 0;
  /** @type {Map<number, { resolve: (value: any) => void, reject: (error: Error) => void }>} */
  #waiting = new Map();

  /** @param {import('node:net').Socket} socket */
  constructor(socket) {
    this.#socket = socket;
    socket.on('data', (bytes) => this.#take(bytes));
  }

  /** @param {number} port @returns {Promise<Marionette>} */
  static connect(port) {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('error', reject);
      socket.once('connect', () => resolve(new Marionette(socket)));
    });
  }

  /** @param {string} command @param {Record<string, unknown>} parameters @returns {Promise<any>} */
  send(command, parameters) {
    const id = ++this.#id;
    const json = JSON.stringify([0, id, command, parameters]);
    this.#socket.write(`${Buffer.byteLength(json)}:${json}`);
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  close() {
    this.#socket.destroy();
  }

  /** @param {Buffer} bytes */
  #take(bytes) {
    this.#received = Buffer.concat([this.#received, bytes]);
    for (;;) {
      const colon = this.#received.indexOf(':');
      const end = colon + 1 + Number(this.#received.subarray(0, colon).toString());
      if (colon < 0 || this.#received.length < end) return;
      const message = JSON.parse(this.#received.subarray(colon + 1, end).toString());
      this.#received = this.#received.subarray(end);
      // The first message is a greeting, no answer.
      if (!Array.isArray(message)) continue;
      const [, id, error, result] = message;
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error) waiting?.reject(new Error(`${error.error}: ${error.message}`));
      else waiting?.resolve(result);
    }
  }
}

/** @returns {string | null} */
export const findFirefox = () => findProgram([process.env.FIREFOX ?? 'firefox-esr', 'firefox']);

/** @returns {Promise<Driver>} */
export async function startFirefox() {
  const program = findFirefox();
  if (program === null) throw new Error('no Firefox on PATH');
  const port = await freePort();
  const profile = mkdtempSync(join(tmpdir(), 'gated-mlp-firefox-'));
  writeFileSync(join(profile, 'user.js'), `user_pref("marionette.port", ${port});\n`);
  const args = ['--marionette', '--headless', '--no-remote', '--profile', profile];
  const process_ = spawn(program, args, { stdio: 'ignore' });
  const marionette = await eventually(() => Marionette.connect(port));
  const { capabilities } = await marionette.send('WebDriver:NewSession', {});
  await marionette.send('WebDriver:SetWindowRect', { width: 1280, height: 800 });
  return {
    name: `Firefox ${capabilities.browserVersion}`,
    open: (url) => marionette.send('WebDriver:Navigate', { url }),
    run: async (script) =>
      (await marionette.send('WebDriver:ExecuteScript', { script, args: [] })).value,
    close: async () => {
      await marionette.send('Marionette:Quit', { flags: ['eForceQuit'] }).catch(() => {});
      marionette.close();
      await ended(process_);
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

/** WebKitGTK's small browser, which lies beside the library. @returns {string | null} */
export function findMiniBrowser() {
  for (const folder of [
    '/usr/lib/x86_64-linux-gnu',
    '/usr/lib/aarch64-linux-gnu',
    '/usr/libexec',
  ]) {
    const names = existsSync(folder) ? readdirSync(folder) : [];
    const places = names.filter(
      (name) => name.startsWith('webkit2gtk-') || name.startsWith('webkitgtk-'),
    );
    const found = places
      .map((name) => join(folder, name, 'MiniBrowser'))
      .find((path) => existsSync(path));
    if (found !== undefined) return found;
  }
  return null;
}

/** @returns {Promise<Driver>} */
export async function startWebKit() {
  const binary = findMiniBrowser();
  const program = findProgram(['WebKitWebDriver']);
  const screen = findProgram(['Xvfb']);
  if (binary === null || program === null || screen === null) {
    throw new Error('WebKit needs WebKitWebDriver, MiniBrowser and Xvfb');
  }
  const [port, display] = [await freePort(), `:${90 + (process.pid % 400)}`];
  const xvfb = spawn(screen, [display, '-screen', '0', '1280x1024x24'], { stdio: 'ignore' });
  await eventually(async () => {
    if (!existsSync(`/tmp/.X11-unix/X${display.slice(1)}`)) throw new Error('no virtual screen');
  });
  const env = { ...process.env, DISPLAY: display, WEBKIT_DISABLE_DMABUF_RENDERER: '1' };
  const driver = spawn(program, [`--port=${port}`], { stdio: 'ignore', env });
  const call = webDriver(`http://127.0.0.1:${port}`);
  const options = { binary, args: ['--automation'] };
  const alwaysMatch = { 'webkitgtk:browserOptions': options };
  const { sessionId, capabilities } = await eventually(() =>
    call('POST', '/session', { capabilities: { alwaysMatch } }),
  );
  return {
    name: `WebKitGTK ${capabilities.browserVersion}`,
    open: (url) => call('POST', `/session/${sessionId}/url`, { url }),
    run: (script) => call('POST', `/session/${sessionId}/execute/sync`, { script, args: [] }),
    close: async () => {
      await call('DELETE', `/session/${sessionId}`).catch(() => {});
      for (const program_ of [driver, xvfb]) {
        program_.kill();
        await ended(program_);
      }
    },
  };
}

/** @param {string} origin */
function webDriver(origin) {
  /** @param {string} method @param {string} path @param {unknown} [body] @returns {Promise<any>} */
  return async (method, path, body) => {
    const response = await fetch(origin + path, {
      method,
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const { value } = await response.json();
    if (!response.ok) throw new Error(`${value.error}: ${value.message}`);
    return value;
  };
}

/** @param {import('node:child_process').ChildProcess} child */
function ended(child) {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once('exit', () => resolve(null));
    setTimeout(() => child.kill('SIGKILL'), 5000).unref();
  });
}
