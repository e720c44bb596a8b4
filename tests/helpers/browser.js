// A page in a real browser for the tests: starts Chromium by its path, serves a copy of the repository whose files a test
// may alter or hold back, counts what is sent, and collects what the page complains of.

import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { createPageServer, listen } from '../../web/serve.js';
import { keepConnections } from './keep-connections.js';
import { findBrowser } from './tools.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** How long a page may take to do anything before it counts as hung, ms: nothing is said of how fast a machine is. */
const PATIENCE = 120_000;
export const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export function browserPath() {
  const path = findBrowser();
  if (path === null) {
    throw new Error('No Chromium on PATH: run `node tests/helpers/prepare.js browser`.');
  }
  return path;
}

/** Starts the browser with a user folder of its own. */
export function launchBrowser() {
  const executablePath = browserPath();
  return chromium.launch({ executablePath, headless: true, args: FLAGS, timeout: PATIENCE });
}

/** A browser and the served page for a test file: both are closed after its last test. */
export async function startPage() {
  const browser = await launchBrowser();
  const site = await servePage();
  after(async () => {
    await browser.close();
    site.close();
  });
  return { browser, site };
}

/**
 * Serves the page. `bytesSent` counts everything that went down the wire, headers included; `requests` lists what was
 * asked for; `before`, where given, is awaited ahead of every answer and may hold it back or give it.
 * @param {{ root?: string, before?: (request: import('node:http').IncomingMessage,
 *   response: import('node:http').ServerResponse) => Promise<void> | void }} [options]
 */
export async function servePage({ root = ROOT, before } = {}) {
  const server = createPageServer({ root });
  keepConnections(server);
  const [answer] = /** @type {((request: unknown, response: unknown) => void)[]} */ (
    server.listeners('request')
  );
  /** @type {Set<import('node:net').Socket>} */
  const sockets = new Set();
  /** @type {{ url: string, range: string, sentBefore: number }[]} */
  const requests = [];
  const bytesSent = () => [...sockets].reduce((sum, socket) => sum + socket.bytesWritten, 0);
  server.on('connection', (socket) => sockets.add(socket));
  server.removeAllListeners('request');
  server.on('request', async (request, response) => {
    const { url = '', headers } = request;
    requests.push({ url, range: headers.range ?? '', sentBefore: bytesSent() });
    await before?.(request, response);
    if (!response.headersSent) answer(request, response);
  });
  const address = await listen(server, 0);
  // A test that fails before it closes it must not keep its file from ending.
  server.unref();
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { page: `${address}web/`, address, requests, bytesSent, close };
}

/**
 * A folder that looks like the repository, with fixtures of its own that may be overwritten.
 * @param {string[]} files names in fixtures/ that the test alters
 */
export function alterableRepository(files) {
  const root = mkdtempSync(join(tmpdir(), 'gated-mlp-page-'));
  for (const folder of ['web', 'src']) symlinkSync(join(ROOT, folder), join(root, folder));
  cpSync(join(ROOT, 'fixtures'), join(root, 'fixtures'), {
    recursive: true,
    filter: (path) => !path.includes('goldens') && !path.endsWith('-checks.safetensors'),
  });
  return {
    root,
    paths: files.map((name) => join(root, 'fixtures', name)),
    remove: () => rmSync(root, { recursive: true }),
  };
}

/**
 * Opens a tab whose complaints are kept: console errors, uncaught exceptions, failed requests.
 * @param {import('playwright-core').Browser} browser
 * @param {import('playwright-core').BrowserContextOptions} [options]
 */
export async function openTab(browser, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 }, ...options });
  context.setDefaultTimeout(PATIENCE);
  const tab = await context.newPage();
  /** @type {string[]} */
  const complaints = [];
  tab.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  tab.on('pageerror', (error) => complaints.push(String(error)));
  tab.on('requestfailed', (request) => complaints.push(`failed: ${request.url()}`));
  return { tab, complaints };
}

/**
 * The badge once the page has made up its mind.
 * @param {import('playwright-core').Page} tab
 */
export async function settledBadge(tab) {
  const badge = tab.locator('#badge:not([data-state="pending"])');
  await badge.waitFor();
  const state = String(await badge.getAttribute('data-state'));
  return { state, words: String(await badge.textContent()) };
}

/**
 * A tab on the page at an address, when its badge says that all is checked.
 * @param {import('playwright-core').Browser} browser
 * @param {string} address
 * @param {import('playwright-core').BrowserContextOptions} [options]
 */
export async function openChecked(browser, address, options) {
  const { tab, complaints } = await openTab(browser, options);
  await tab.goto(address);
  const { state, words } = await settledBadge(tab);
  assert.equal(state, 'ok', words);
  return { tab, complaints };
}

/**
 * Repeats a check until it passes: the page answers when it has computed, however busy the machine is. What it says when
 * patience is over counts.
 * @param {() => Promise<void>} check
 */
export async function eventually(check) {
  const end = Date.now() + PATIENCE;
  for (;;) {
    try {
      await check();
      return;
    } catch (error) {
      if (Date.now() > end) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

/**
 * The address as the page has it now; Page.url() learns of a pushed one only later.
 * @param {import('playwright-core').Page} tab
 */
export const addressOf = (tab) => tab.evaluate(() => location.href);
