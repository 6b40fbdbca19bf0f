import type { Server } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";

/**
 * Responds to requests whose client has closed its own side of the connection after them, as `nc -N` does: it may still
 * read (RFC 9112, section 6.3). By default Node closes the other side too, and the response is lost (decision 0215).
 */
export function respondToHalfClosed(server: Server): void {
  Object.assign(server, { httpAllowHalfOpen: true }); // Node reads it at each end of a client's side. Its types lack it.
}

/**
 * Ends the connection of a response without an end when the client closes its side. Such a client has gone. A write would
 * show it too, but the second one only. The responses before it on the connection are sent first.
 */
export function endWithClient({ raw: { socket } }: FastifyRequest, { raw: response }: FastifyReply): void {
  const end = (): void => {
    // Only the response whose turn it is has a socket.
    if (response.socket === null) response.once("socket", () => socket.destroy());
    else socket.destroy();
  };
  if (socket.readableEnded) end();
  else socket.once("end", end);
}
