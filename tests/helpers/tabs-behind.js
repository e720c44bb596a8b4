// Chromium with tabs that nobody sees, driven by its own protocol over a pipe. Playwright keeps every tab that it drives seen
// and drawn, so it cannot tell what a page does behind another; here the browser itself hides it: no frames, no observers of
// sizes, slow timers.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { browserPath, FLAGS } from './browser.js';

/** Starts the browser; in front of it is an empty tab. */
export function startTabs() {
  const folder = mkdtempSync(join(tmpdir(), 'gated-mlp-tabs-'));
  const flags = [
    ...FLAGS,
    '--headless=new',
    '--remote-debugging-pipe',
    `--user-data-dir=${folder}`,
  ];
  const browser = spawn(browserPath(), [...flags, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const [, , , to, from] = browser.stdio;
  const wire = new Wire(
    /** @type {import('node:stream').Writable} */ (to),
    /** @type {import('node:stream').Readable} */ (from),
  );
  const ended = new Promise((resolve) => browser.once('close', resolve));
  return {
    /** A tab behind the one in front; `before` runs ahead of the page's own scripts. */
    open: async (/** @type {string} */ address, before = '') => {
      const { targetId } = await wire.send('Target.createTarget', {
        url: 'about:blank',
        background: true,
      });
      const { sessionId } = await wire.send('Target.attachToTarget', { targetId, flatten: true });
      const tab = new Tab(wire, targetId, sessionId);
      await tab.load(address, before);
      return tab;
    },
    close: async () => {
      // All its processes at once, so that none still writes into the folder.
      if (browser.exitCode === null) process.kill(-Number(browser.pid), 'SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, maxRetries: 5 });
    },
  };
}

class Tab {
  #wire;
  #target;
  #session;

  /** @param {Wire} wire @param {string} target @param {string} session */
  constructor(wire, target, session) {
    this.#wire = wire;
    this.#target = target;
    this.#session = session;
  }

  /** @param {string} address @param {string} before */
  async load(address, before) {
    await this.#send('Page.enable', {});
    await this.#send('Page.addScriptToEvaluateOnNewDocument', { source: before });
    await this.#send('Page.navigate', { url: address });
  }

  /** What a function gives in the page, as JSON carries it. @template T @param {() => T | Promise<T>} read @returns {Promise<T>} */
  async run(read) {
    const { result, exceptionDetails } = await this.#send('Runtime.evaluate', {
      expression: `(${read})()`,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined) {
      throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    }
    return result.value;
  }

  /** Puts it in front; the one that was there is behind it now. */
  async show() {
    await this.#wire.send('Target.activateTarget', { targetId: this.#target });
  }

  /** @param {string} method @param {object} params */
  #send(method, params) {
    return this.#wire.send(method, params, this.#session);
  }
}

/** The protocol's framing: JSON, each ended by a zero byte. */
class Wire {
  #to;
  #received = '';
  #id = 0;
  /** @type {Map<number, { resolve: (value: any) => void, reject: (error: Error) => void }>} */
  #waiting = new Map();

  /**
   * @param {import('node:stream').Writable} to
   * @param {import('node:stream').Readable} from
   */
  constructor(to, from) {
    this.#to = to;
    from.setEncoding('utf8');
    from.on('data', (text) => this.#take(text));
    from.on('close', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('the browser has ended'));
    });
    to.on('error', () => {});
  }

  /** @param {string} method @param {object} params @param {string} [sessionId] @returns {Promise<any>} */
  send(method, params, sessionId) {
    const id = ++this.#id;
    this.#to.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  /** @param {string} text */
  #take(text) {
    const messages = (this.#received + text).split('\0');
    this.#received = String(messages.pop());
    for (const message of messages) {
      const { id, result, error } = JSON.parse(message);
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) waiting?.resolve(result);
      else waiting?.reject(new Error(error.message));
    }
  }
}
