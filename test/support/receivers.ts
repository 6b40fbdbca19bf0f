import { EventEmitter, once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, createServer as createRawServer, type Server, type Socket } from "node:net";
import type { Certificate } from "./certificate.ts";

/** A request as it came; the raw body is what a signature covers. */
export type ReceivedRequest = {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
};

export type Receiver = {
  readonly url: string;
  /** In the order of their last bytes. */
  readonly requests: readonly ReceivedRequest[];
  /** Connections since the start. */
  readonly connectionCount: () => number;
  /** Of connections that are closed, with all that TLS needs. */
  readonly bytesReceived: () => number;
  /** Resolves with the requests as soon as there are so many. */
  waitFor(count: number): Promise<readonly ReceivedRequest[]>;
  close(): Promise<void>;
};

export type ReceiverHandler = (request: ReceivedRequest, response: ServerResponse) => void;

/** Returns 200 at once. */
export const accept: ReceiverHandler = (_, response) => {
  response.end();
};

/** Responds with a status, and no body. */
export const answering =
  (status: number): ReceiverHandler =>
  (_, response) =>
    response.writeHead(status).end();

/** A partner's server for webhooks. The handler runs when the request is there with its whole body. */
export async function startReceiver(
  handler: ReceiverHandler = accept,
  certificate: Certificate | null = null,
): Promise<Receiver> {
  const requests: ReceivedRequest[] = [];
  const arrivals = new EventEmitter().setMaxListeners(0);
  const server = certificate === null ? createServer() : createTlsServer(certificate);
  server.on("request", (message, response) => {
    const chunks: Buffer[] = [];
    message.on("data", (chunk: Buffer) => chunks.push(chunk));
    message.on("end", () => {
      const { method = "", url: path = "", headers } = message;
      const request = { method, path, headers, body: Buffer.concat(chunks).toString("utf8") };
      requests.push(request);
      arrivals.emit("request");
      handler(request, response);
    });
  });
  const { port, ...connections } = await listening(server);

  return {
    url: `${certificate === null ? "http" : "https"}://127.0.0.1:${port}/webhooks`,
    requests,
    ...connections,
    waitFor: async (count) => {
      while (requests.length < count) await once(arrivals, "request");
      return requests;
    },
  };
}

export type RawReceiver = {
  readonly url: string;
  /** Everything that came, of all connections. */
  readonly received: () => string;
  readonly connectionCount: () => number;
  close(): Promise<void>;
};

/**
 * A server that responds with any bytes. The handler runs when the head of a request has arrived, once per connection.
 */
export async function startRawReceiver(handler: (socket: Socket) => void): Promise<RawReceiver> {
  let received = "";
  const server = createRawServer((socket) => {
    let isAnswered = false;
    socket.on("error", () => undefined); // Who sends to it may hang up at any time.
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
      if (isAnswered || !received.includes("\r\n\r\n")) return;
      isAnswered = true;
      handler(socket);
    });
  });
  const { port, connectionCount, close } = await listening(server);
  return { url: `http://127.0.0.1:${port}/webhooks`, received: () => received, connectionCount, close };
}

async function listening(server: Server) {
  const sockets = new Set<Socket>();
  let connectionCount = 0;
  let bytesReceived = 0;
  server.on("connection", (socket: Socket) => {
    connectionCount += 1;
    sockets.add(socket);
    socket.on("close", () => {
      bytesReceived += socket.bytesRead;
      sockets.delete(socket);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port, // It listens on a port, so this is no pipe's name.
    connectionCount: () => connectionCount,
    bytesReceived: () => bytesReceived,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
