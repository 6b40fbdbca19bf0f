import { Socket } from "node:net";
import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";

/**
 * Ends the connection of a response whose body fails while it is sent, so that it does not look complete. Fastify does so
 * too, but not if the response waits for its turn on the connection: that would never end (decision 0227).
 */
export function cutOffWithBody(body: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { socket, httpVersion } = request.raw;
  // The command line sends requests without a connection.
  if (!(body instanceof Readable && socket instanceof Socket)) return;
  body.once("error", () => {
    if (!reply.raw.headersSent) return; // The response becomes a problem.
    cutOff(request, reply, () => {
      // For a client of HTTP/1.0, such as some proxies, the end of the connection is that of the body. A reset is not.
      if (httpVersion === "1.0") socket.resetAndDestroy();
      else socket.destroy();
    });
  });
}

/** Ends the connection of a response when it is its turn there. The responses to the requests before it are sent first. */
export function cutOff(
  { raw: { socket } }: FastifyRequest,
  { raw: response }: FastifyReply,
  end: () => void = () => void socket.destroy(),
): void {
  // Only the response whose turn it is has a socket.
  if (response.socket === null) response.once("socket", end);
  else end();
}
