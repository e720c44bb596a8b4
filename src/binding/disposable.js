// [Symbol.dispose] for everything that owns memory, where the engine has that symbol.

/** @param {{ dispose(): void }} owner */
export function makeDisposable(owner) {
  if (Symbol.dispose) {
    Object.defineProperty(owner, Symbol.dispose, { value: () => owner.dispose() });
  }
}
