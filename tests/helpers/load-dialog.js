// "Load another model" as a person uses it, for the tests that load something: opened, asked, its errors, and the layer on show.

import { after, beforeEach } from 'node:test';
import { openTab, settledBadge, startPage } from './browser.js';
import { FaultServer } from './fault-server.js';

/** @typedef {import('playwright-core').Page} Page */

/** What a server must answer with, for a page of another site to read it. */
export const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': 'authorization, range',
};

/**
 * The page, and a server of another site that lets it read: as new before each test.
 * @param {Parameters<typeof FaultServer.start>[0]} files
 */
export async function startPageAndServer(files) {
  const server = await FaultServer.start(files);
  const { browser, site } = await startPage();
  after(() => server.close());
  beforeEach(() => {
    server.reset();
    server.headers = { ...CORS };
  });
  return { server, browser, site };
}

/** Opens the dialog, whose code may still be on its way. @param {Page} tab */
export async function pressLoad(tab) {
  await tab.click('#load-open');
  await tab.locator('#load-dialog').waitFor();
}

/**
 * A tab with the dialog open.
 * @param {import('playwright-core').Browser} browser
 * @param {{ page: string }} site
 */
export async function openDialog(browser, site) {
  const { tab, complaints } = await openTab(browser);
  await tab.goto(site.page);
  await settledBadge(tab);
  await pressLoad(tab);
  return { tab, complaints };
}

/** Chooses files as a person does, who presses the button first. @param {Page} tab @param {string} button @param {string[]} files */
export async function chooseFiles(tab, button, files) {
  const [chooser] = await Promise.all([tab.waitForEvent('filechooser'), tab.click(button)]);
  await chooser.setFiles(files);
}

/** @param {Page} tab @param {string} address */
export async function ask(tab, address) {
  await tab.fill('#load-url', address);
  await tab.press('#load-url', 'Enter');
}

/** @param {Page} tab @param {RegExp} words */
export const errorOf = (tab, words) =>
  tab.locator('#load-error').filter({ hasText: words }).waitFor();

/** Loads the chosen layer. @param {Page} tab */
export async function loadChosen(tab) {
  await tab.click('#load-layer');
  await tab.locator('#load-dialog').waitFor({ state: 'hidden' });
  return settledBadge(tab);
}
