// Paths as sources, where the runtime has a file system: what a page never needs. Imports nothing, so that a bundler makes it
// a small file of its own; source.js fetches it and hands in what it uses. The file system is asked for at run time, so that
// bundlers see no import.

/** @typedef {import('./source.js').PathTools} PathTools */
/** @typedef {import('./source.js').Located} Located */
/** @typedef {import('./source.js').Folder} Folder */

/** Bytes of one read from disk. */
const PIECE_BYTES = 1 << 20;

/**
 * What is used of Node's file system, spelt out here: users of the package's types may not have Node's.
 * @typedef {{ size: bigint, mtimeNs: bigint, isDirectory(): boolean }} FileStats
 * @typedef {object} FileHandle
 * @property {(options: { bigint: true }) => Promise<FileStats>} stat
 * @property {(buffer: Uint8Array<ArrayBuffer>, offset: number, length: number, position: number)
 *   => Promise<{ bytesRead: number, buffer: Uint8Array<ArrayBuffer> }>} read
 * @property {() => Promise<void>} close
 * @typedef {object} FileSystem
 * @property {(path: string, options?: { bigint: true }) => Promise<FileStats>} stat
 * @property {(path: string) => Promise<FileHandle>} open
 * @property {(path: string, encoding: 'utf8') => Promise<string>} readFile
 */

/** @returns {FileSystem} */
function fileSystem() {
  const { promises } = globalThis.process.getBuiltinModule('node:fs');
  return /** @type {FileSystem} */ (/** @type {unknown} */ (promises));
}

/**
 * @param {string | URL} given a path or a file: URL
 * @param {PathTools} tools
 * @returns {Promise<Located>}
 */
export async function locatePath(given, tools) {
  const path =
    typeof given === 'string'
      ? given
      : globalThis.process.getBuiltinModule('node:url').fileURLToPath(given);
  const stats = await fileSystem()
    .stat(path)
    .catch(() => null);
  const at = Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\'));
  const isFolder = stats?.isDirectory() ?? false;
  const folder = pathFolder(isFolder ? path : at < 0 ? '.' : path.slice(0, at + 1), tools);
  const member = path.slice(at + 1);
  const isIndex = !isFolder && /\.json$/i.test(member);
  return {
    url: path,
    revision: null,
    file: isFolder || isIndex ? null : pathFile(path, tools),
    index: isIndex ? member : null,
    folder,
    hasConfig: isFolder || isIndex || tools.CHECKPOINT_FILE.test(member),
  };
}

/**
 * @param {string} path
 * @param {PathTools} tools
 */
function pathFile(path, { LocalFile, FileReplaced, orUnreadable }) {
  let [size, modified] = [0n, 0n];
  return new LocalFile(
    path,
    size,
    async function* (begin, end, signal) {
      const handle = await orUnreadable(path, fileSystem().open(path));
      try {
        const now = await handle.stat({ bigint: true });
        if (now.size !== size || now.mtimeNs !== modified)
          throw new FileReplaced(`${path}: the file has changed`);
        for (let at = begin; at < end; ) {
          signal?.throwIfAborted();
          const length = Math.min(PIECE_BYTES, Number(end - at));
          const read = handle.read(new Uint8Array(length), 0, length, Number(at));
          const { bytesRead, buffer } = await orUnreadable(path, read);
          if (bytesRead === 0) return;
          yield buffer.subarray(0, bytesRead);
          at += BigInt(bytesRead);
        }
      } finally {
        await handle.close();
      }
    },
    async () => {
      const stat = fileSystem().stat(path, { bigint: true });
      ({ size, mtimeNs: modified } = await orUnreadable(path, stat));
      return size;
    },
  );
}

/**
 * @param {string} path
 * @param {PathTools} tools
 * @returns {Folder}
 */
function pathFolder(path, tools) {
  const { join } = globalThis.process.getBuiltinModule('node:path');
  /** @param {string} member */
  const pathOf = (member) => join(path, ...tools.segmentsOf(member));
  return {
    name: path,
    file: (member) => pathFile(pathOf(member), tools),
    async text(member) {
      const file = pathOf(member);
      return tools.orUnreadable(file, fileSystem().readFile(file, 'utf8')).catch((error) => {
        if (error.cause.code === 'ENOENT') return null;
        throw error;
      });
    },
    absent: (place, words) => tools.ioError(place, words),
  };
}
