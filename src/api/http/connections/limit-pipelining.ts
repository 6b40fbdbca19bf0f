import type { RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Logger } from "pino";
import { atMostEvery } from "../../../platform/log.ts";
import { SECOND_MS } from "../../../platform/time.ts";

/** Requests that a client may send on a connection beside the one that is in progress (decision 0188). */
export const PIPELINED_MAX = 64;

/**
 * Closes a connection on which more requests wait for their responses. Node begins each request as soon as it has arrived,
 * also before the earlier ones of its connection have their responses. One packet contains hundreds of them.
 */
export function limitPipelining(server: Server, log: Logger): void {
  const waiting = new WeakMap<Socket, number>();
  const logClosed = atMostEvery(SECOND_MS, (_: undefined, count) =>
    log.warn({ count, max: PIPELINED_MAX }, "connections closed: too many requests without a response"),
  );

  function admit(socket: Socket, response: ServerResponse): boolean {
    const count = waiting.get(socket) ?? 0;
    if (count >= PIPELINED_MAX) return false;
    waiting.set(socket, count + 1);
    response.once("close", () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1));
    return true;
  }

  const handlers = server.listeners("request") as RequestListener[]; // The event's listeners are nothing else.
  server.removeAllListeners("request");
  server.on("request", (request, response) => {
    const { socket } = request;
    if (socket.destroyed) return; // The rest of a packet.
    // Only the response that is next on its connection has a socket. Most requests are alone and are not counted.
    if (response.socket === null && !admit(socket, response)) {
      logClosed(undefined);
      socket.destroy();
      return;
    }
    for (const handle of handlers) handle.call(server, request, response);
  });
}
