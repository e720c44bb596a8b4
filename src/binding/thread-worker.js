// One thread of a team: an instance of the module on the team's memory, with a stack of its own. team.js starts it.
// Once it serves it never returns to the event loop; the runtime ends it by terminating the worker.

/** @typedef {{ module: WebAssembly.Module, memory: WebAssembly.Memory, stack: number, thread: number }} Start */

const node = globalThis.process?.getBuiltinModule?.('node:worker_threads').parentPort;

/** @param {Start} start */
function serve({ module, memory, stack, thread }) {
  const { exports } = new WebAssembly.Instance(module, {
    env: { memory, emscripten_notify_memory_growth() {} },
  });
  const { __stack_pointer, team_serve } =
    /** @type {{ __stack_pointer: WebAssembly.Global, team_serve: (thread: number) => void }} */ (
      /** @type {unknown} */ (exports)
    );
  __stack_pointer.value = stack;
  if (node) node.postMessage('ready');
  else globalThis.postMessage('ready');
  team_serve(thread);
}

if (node) node.once('message', serve);
else globalThis.addEventListener('message', ({ data }) => serve(data), { once: true });
