import { connect, type Socket } from "node:net";
import type { FastifyInstance } from "fastify";

/** Opens a listener on a free port of this machine; returns its address. */
export const listen = (app: FastifyInstance): Promise<string> => app.listen({ host: "127.0.0.1", port: 0 });

/** One response as it was received, unmodified. */
export type RawAnswer = {
  status: number;
  statusLine: string;
  headers: Record<string, string>;
  body: string;
};

/** A client that sends exactly the bytes it is given, which no well-behaved client would. */
export type RawConnection = {
  readonly socket: Socket;
  send(bytes: string | Buffer): void;
  /** The next response of the connection; a response to a HEAD request announces a body that does not come. */
  answer(options?: { toHead: boolean }): Promise<RawAnswer>;
  /** Everything that came, once the server has closed the connection. */
  closed(): Promise<string>;
  close(): void;
};

/** Long enough for a slow machine; a test that gets here has failed. */
const DEADLINE_MS = 20_000;

/** @param options with `allowHalfOpen`, the client can send on after the server has closed its side */
export async function openConnection(
  address: string,
  { allowHalfOpen } = { allowHalfOpen: false },
): Promise<RawConnection> {
  const { hostname, port } = new URL(address);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true, allowHalfOpen });
  let received = Buffer.alloc(0);
  let ended = false;
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const check of waiting) check();
  };
  socket.on("data", (chunk) => {
    received = Buffer.concat([received, chunk]);
    wake();
  });
  // A server that rejects a request may close the connection before it has read all of it; its response still counts.
  socket.on("error", () => undefined);
  socket.on("close", () => {
    ended = true;
    wake();
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });

  function until<T>(read: () => T | undefined, what: string): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => settle(() => reject(new Error(`${what} did not come; got: ${received}`))),
        DEADLINE_MS,
      );
      const settle = (done: () => void) => {
        clearTimeout(timer);
        waiting.delete(check);
        done();
      };
      const check = () => {
        const found = read();
        if (found !== undefined) settle(() => resolve(found));
        else if (ended)
          settle(() => reject(new Error(`${what} did not come before the end; got: ${received}`)));
      };
      waiting.add(check);
      check();
    });
  }

  return {
    socket,
    send: (bytes) => {
      socket.write(bytes);
    },
    answer: ({ toHead } = { toHead: false }) =>
      until(() => {
        const parsed = parseAnswer(received, toHead);
        if (parsed === undefined) return undefined;
        received = received.subarray(parsed.length);
        return parsed.answer;
      }, "An answer"),
    closed: () => until(() => (ended ? received.toString("latin1") : undefined), "The end"),
    close: () => socket.destroy(),
  };
}

/** Sends bytes over a connection of their own; returns the first response. */
export async function exchange(address: string, bytes: string | Buffer): Promise<RawAnswer> {
  const connection = await openConnection(address);
  try {
    connection.send(bytes);
    return await connection.answer({ toHead: bytes.toString("latin1").startsWith("HEAD ") });
  } finally {
    connection.close();
  }
}

/** The text of a request: its first line and fields, with a length when there is a body. */
export function requestText(
  line: string,
  headers: Record<string, string | string[]> = {},
  body?: string | Buffer,
): Buffer {
  const fields = Object.entries(headers).flatMap(([name, values]) =>
    [values].flat().map((value) => `${name}: ${value}\r\n`),
  );
  const length = body === undefined ? "" : `content-length: ${Buffer.byteLength(body)}\r\n`;
  const host = Object.keys(headers).some((name) => name.toLowerCase() === "host")
    ? ""
    : "host: 127.0.0.1\r\n";
  const head = Buffer.from(`${line}\r\n${host}${fields.join("")}${length}\r\n`, "latin1");
  return body === undefined ? head : Buffer.concat([head, Buffer.from(body)]);
}

function parseAnswer(bytes: Buffer, toHead: boolean): { answer: RawAnswer; length: number } | undefined {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd === -1) return undefined;
  const [statusLine = "", ...lines] = bytes.subarray(0, headEnd).toString("latin1").split("\r\n");
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const status = Number(statusLine.split(" ")[1]);
  const bodyStart = headEnd + 4;
  if (status === 100) {
    const final = parseAnswer(bytes.subarray(bodyStart), toHead); // It only says that the body may come.
    return final && { ...final, length: bodyStart + final.length };
  }
  const length = toHead ? 0 : Number(headers["content-length"] ?? 0);
  if (bytes.length < bodyStart + length) return undefined;
  const body = bytes.subarray(bodyStart, bodyStart + length).toString("utf8");
  return { answer: { status, statusLine, headers, body }, length: bodyStart + length };
}
