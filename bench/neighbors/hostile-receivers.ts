import { createServer, type Socket } from "node:net";

/** What a hostile receiver does with a connection, once a request has arrived on it. */
export type HostileReceiver = (socket: Socket) => void;

const OK = "HTTP/1.1 204 No Content\r\n\r\n";

export const answerAtOnce: HostileReceiver = (socket) => void socket.write(OK);

export const answerAfter =
  (ms: number): HostileReceiver =>
  (socket) =>
    void setTimeout(() => !socket.destroyed && socket.write(OK), ms);

/** Writes the same bytes as fast as they are read. */
const forever = (socket: Socket, bytes: Buffer): void => {
  const write = (): void => {
    while (!socket.destroyed && socket.write(bytes));
  };
  socket.on("drain", write);
  write();
};

const EARLY_HINTS = Buffer.from(
  `HTTP/1.1 103 Early Hints\r\n${Array.from({ length: 100 }, (_, index) => `x-${index}: 1\r\n`).join("")}\r\n`.repeat(
    20,
  ),
);
export const endlessEarlyHints: HostileReceiver = (socket) => forever(socket, EARLY_HINTS);

export const endlessChunkExtension: HostileReceiver = (socket) => {
  socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;");
  forever(socket, Buffer.alloc(1 << 16, "x"));
};

const SHORT_FIELDS = Buffer.from("a: b\r\n".repeat(10_000));
export const endlessHeaderFields: HostileReceiver = (socket) => {
  socket.write("HTTP/1.1 200 OK\r\n");
  forever(socket, SHORT_FIELDS);
};

export type Started = { url: string; close(): void };

export async function startHostileReceiver(behave: HostileReceiver): Promise<Started> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("close", () => sockets.delete(socket)).on("error", () => undefined));
    socket.on("data", (bytes) => {
      if (bytes.includes("POST ")) behave(socket);
    });
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
