// npm run screenshot: the picture in README.md, taken of the page as it is, once its badge has found every token in agreement.

import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { launchBrowser, openTab, servePage, settledBadge } from '../helpers/browser.js';

const PICTURE = fileURLToPath(new URL('../../web/screenshot.png', import.meta.url));

const browser = await launchBrowser();
const site = await servePage();
try {
  const { tab } = await openTab(browser, {
    viewport: { width: 1280, height: 720 },
    colorScheme: 'light',
    reducedMotion: 'reduce',
  });
  await tab.goto(site.page);
  const { state, words } = await settledBadge(tab);
  if (state !== 'ok') throw new Error(`the badge says: ${words}`);
  writeFileSync(PICTURE, await tab.screenshot());
} finally {
  await browser.close();
  site.close();
}
