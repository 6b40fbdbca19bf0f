import type { Server } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { cutOff } from "./cut-off.ts";

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
export function endWithClient(request: FastifyRequest, reply: FastifyReply): void {
  const { socket } = request.raw;
  if (socket.readableEnded) cutOff(request, reply);
  else {
    socket.setMaxListeners(socket.getMaxListeners() + 1); // One for each of the requests on it, whose number is limited.
    socket.once("end", () => cutOff(request, reply));
  }
}
