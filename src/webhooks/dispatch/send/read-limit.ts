import type { Socket } from "node:net";

/**
 * What may be received for one request. The client limits header fields and the sender the body, but nothing else:
 * chunk sizes and their extensions, a status text, and what TLS itself receives. No ordinary response comes near it.
 */
const RECEIVED_MAX_BYTES = 256 * 1_024;
/** Finds what arrives without being announced as readable, such as records of TLS. */
const CHECK_EVERY_MS = 250;

/** The receiver sends more than any response needs. */
export class ResponseTooLargeError extends Error {
  constructor() {
    super("response too large");
    this.name = "ResponseTooLargeError";
  }
}

/** What a socket had received and sent when its limit began to count. */
type Counts = { received: number; sent: number };

/** Ends sockets that receive too much for one request (decision 0062), at the latest with twice the limit. */
export class ReadLimit {
  readonly #sockets = new Map<Socket, Counts>();
  #timer: NodeJS.Timeout | null = null;

  get socketCount(): number {
    return this.#sockets.size;
  }

  /** @param connected the event after which a request is sent */
  watch(socket: Socket, connected: "connect" | "secureConnect"): void {
    const counts = { received: 0, sent: 0 };
    this.#sockets.set(socket, counts);
    this.#timer ??= setInterval(() => this.#checkAll(), CHECK_EVERY_MS).unref();
    socket.once("close", () => this.#forget(socket));
    socket.once(connected, () => {
      // After the client has read: the sender may have ended the exchange because of a long body, which is no failure.
      socket.on("readable", () => {
        if (isBeyond(socket, counts)) process.nextTick(checkSocket, socket, counts);
      });
    });
  }

  #forget(socket: Socket): void {
    this.#sockets.delete(socket);
    if (this.#sockets.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  #checkAll(): void {
    for (const [socket, counts] of this.#sockets) checkSocket(socket, counts);
  }
}

const isBeyond = (socket: Socket, counts: Counts): boolean =>
  receivedBytes(socket) - counts.received > RECEIVED_MAX_BYTES;

/** What was sent is looked at only when many responses together reach the limit. */
function checkSocket(socket: Socket, counts: Counts): void {
  if (!isBeyond(socket, counts) || socket.destroyed) return;
  const [received, sent] = [receivedBytes(socket), socket.bytesWritten];
  // Only a request is ever sent, so a further one began when more was sent.
  if (sent === counts.sent) socket.destroy(new ResponseTooLargeError());
  else Object.assign(counts, { received, sent });
}

/** With TLS, `bytesRead` counts what was decrypted. The handle below counts what arrived. */
function receivedBytes(socket: Socket): number {
  // Not part of Node's documented interface. If it is missing, what was decrypted is still counted.
  const { _handle: handle } = socket as { _handle?: { _parent?: { bytesRead?: number } } | null };
  return Math.max(socket.bytesRead, handle?._parent?.bytesRead ?? 0);
}
