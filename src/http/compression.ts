import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { FastifyInstance } from "fastify";

const compressed = promisify(gzip);

/** A shorter text gets hardly shorter. */
const LENGTH_MIN = 1_024;

/** `Accept-Encoding` names gzip, and does not exclude it by a weight of 0. */
const ACCEPTS_GZIP = /(?:^|,)\s*gzip\s*(?:$|,|;\s*q=(?!0(?:\.0*)?\s*(?:,|$)))/i;

export const acceptsGzip = (encodings = ""): boolean => ACCEPTS_GZIP.test(encodings);

/** JSON, and what Prometheus reads. */
const COMPRESSED_TYPES = /^(?:application\/(?:\w+\+)?json|text\/plain)\b/;

/**
 * Compresses JSON and metrics for clients that accept it: a list in the console is a tenth as long. Streams and files are sent as
 * they are; the files of the console are compressed when it is built.
 */
export function addCompression(app: FastifyInstance): void {
  app.addHook("onSend", async (request, reply, payload) => {
    if (typeof payload !== "string" || payload.length < LENGTH_MIN) return payload;
    if (!COMPRESSED_TYPES.test(String(reply.getHeader("content-type")))) return payload;
    reply.header("vary", "accept-encoding");
    if (!acceptsGzip(request.headers["accept-encoding"])) return payload;
    reply.removeHeader("content-length").header("content-encoding", "gzip");
    return compressed(payload);
  });
}
