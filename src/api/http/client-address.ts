import { isIP } from "node:net";
import type { FastifyRequest } from "fastify";

/**
 * The address of the client: behind trusted proxies, the last entry of `X-Forwarded-For` that is none of them (decision 0200).
 * An entry that is no address cannot be told from others, so the connection's own address stands for it.
 */
export const clientAddress = ({ ip, socket }: Pick<FastifyRequest, "ip" | "socket">): string =>
  isIP(ip) === 0 ? (socket.remoteAddress ?? "") : ip;
