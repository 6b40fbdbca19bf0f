import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";

/**
 * From the beginning of a stop on, each response says that its connection will be closed. Otherwise a client could send its
 * next request on a connection at the moment at which it is cut off (decision 0197).
 * @param stopping is aborted when the process begins to stop. Without it, a stop begins when the listener closes.
 */
export function announceStop(app: FastifyInstance, stopping: AbortSignal | undefined): void {
  let announced = false;
  const closeUnused = watchUnused(app.server);
  stopping?.addEventListener("abort", () => {
    announced = true;
  });
  app.addHook("preClose", async () => {
    announced = true;
    setTimeout(closeUnused, UNUSED_MS).unref();
  });
  app.addHook("onSend", (_request, reply, _payload, done) => {
    if (announced) reply.header("connection", "close");
    done();
  });
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
