import type { Server } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as pause, setImmediate } from "node:timers/promises";
import type { FastifyInstance } from "fastify";

/**
 * From the beginning of a stop on, each response says that its connection will be closed. Otherwise a client could send its
 * next request on a connection at the moment at which it is cut off (decision 0197).
 * @param stopping is aborted when the process begins to stop. Without it, a stop begins when the listener closes.
 */
export function announceStop(app: FastifyInstance, stopping: AbortSignal | undefined): void {
  let announced = false;
  /** Responses that wait until the listener is closed. Their clients would open further connections, without an end. */
  let held: (() => void)[] | null = null;
  const closeUnused = watchUnused(app.server);
  stopping?.addEventListener("abort", () => {
    announced = true;
  });
  app.addHook("preClose", async () => {
    announced = true;
    const responses: (() => void)[] = [];
    held = responses;
    await receiveAll(app.server);
    void untilClosed(app.server).then(() => {
      held = null;
      for (const send of responses) send();
      setTimeout(closeUnused, UNUSED_MS).unref();
    });
  });
  app.addHook("onSend", (_request, reply, _payload, done) => {
    if (announced) reply.header("connection", "close");
    if (held === null) done();
    else held.push(done);
  });
}

/** Longest time for connections that are already open and not accepted yet. */
const RECEIVE_MS = 250;

/**
 * Accepts the connections and reads the requests that have arrived. Node accepts one connection in a round of the event
 * loop, and takes a connection for idle until it has read the request. It would cut all of them off.
 */
async function receiveAll(server: Server): Promise<void> {
  const endsAtMs = performance.now() + RECEIVE_MS;
  let emptyRounds = 0;
  const count = (): void => {
    emptyRounds = 0;
  };
  server.on("connection", count);
  // The first round can be past the point at which it reads.
  for (; emptyRounds < 2 && performance.now() < endsAtMs; emptyRounds += 1) await setImmediate();
  server.off("connection", count);
}

/** How long the first request of a connection may take to arrive when the listener is closed. */
const UNUSED_MS = 250;

/**
 * Returns a function that closes the connections on which nothing has arrived. Clients open some in advance. Node does not
 * take them for idle, so they would delay the end of a listener until they are cut off.
 */
function watchUnused(server: Server): () => void {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  return () => {
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  };
}

/** The longest time for which responses are held back, whatever else has to end before the listener is closed. */
const HELD_MAX_MS = 500;

async function untilClosed(server: Server): Promise<void> {
  const endsAtMs = performance.now() + HELD_MAX_MS;
  while (server.listening && performance.now() < endsAtMs) await pause(1);
}
