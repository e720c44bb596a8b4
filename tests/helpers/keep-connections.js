// For the servers of tests, which are all in the process that asks them.

/**
 * Connections stay until the server is closed: a machine that is held up for longer than Node's 5 seconds would close one just
 * when a request is on its way.
 * @param {import('node:http').Server} server
 */
export function keepConnections(server) {
  server.keepAliveTimeout = 0;
}
