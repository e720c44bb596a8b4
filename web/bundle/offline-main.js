// The offline file's first script: unpacks what the document carries, then starts the page as it is anywhere else.

import { unpack } from './offline-places.js';

await unpack();
await import('../main.js');
