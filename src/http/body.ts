import { isUtf8 } from "node:buffer";
import type { IncomingHttpHeaders } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { TSchema } from "typebox";
import { FairQueue, type Owner, UNOWNED } from "../platform/database/fair-share.ts";
import { malformed, type Problem, ProblemError } from "../platform/wire/problems.ts";

/** Largest accepted body, in bytes (docs/design/creating-orders.md, "Limits of a request"). */
export const BODY_LIMIT_BYTES = 256 * 1024;

const UNSUPPORTED: Problem = {
  code: "unsupported-media-type",
  detail: "Content-Type must be application/json.",
};

const ENCODED: Problem = {
  code: "unsupported-media-type",
  detail: "Content-Encoding must be identity or absent: send the body uncompressed.",
  headers: { "accept-encoding": "identity" }, // RFC 9110, section 15.5.16.
};

/** Why a body with these header fields cannot be read, or null. No coding is supported (RFC 9110, section 8.4). */
export function encodingProblem({
  "content-encoding": sent = "identity",
}: IncomingHttpHeaders): Problem | null {
  return sent.toLowerCase() === "identity" ? null : ENCODED;
}

/** A body without required fields may be absent. It then counts as `{}`. */
export function isBodyRequired(schema: TSchema): boolean {
  const { required = [] } = schema as { required?: readonly string[] }; // Of an object's schema.
  return required.length > 0;
}

/**
 * Bodies are JSON. A route with a body has the hook `bodyCheck`, a route without one has `ignoreBody`.
 * @param ownerOf the owner of a caller's large bodies, which are read in turn with those of other owners
 */
export function addBodyParsers(app: FastifyInstance, ownerOf: (caller: object) => Owner): void {
  const turn = createBodyTurns();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    "application/json",
    { parseAs: "buffer" },
    async ({ caller, headers }: FastifyRequest, body: Buffer) => {
      const encoded = body.length === 0 ? null : encodingProblem(headers);
      if (encoded !== null) throw new ProblemError(encoded);
      const wait = turn(caller === null ? UNOWNED : ownerOf(caller), body.length);
      if (wait !== null) await wait;
      return parseBody(body);
    },
  );
  app.addContentTypeParser("*", { parseAs: "buffer" }, async (request: FastifyRequest, body: Buffer) => {
    const schema = request.routeOptions.schema?.body as TSchema | undefined; // The schema of the route's row.
    if (schema === undefined) return;
    if (body.length > 0 || isBodyRequired(schema)) throw new ProblemError(UNSUPPORTED);
  });
}

/** An `onRequest` hook: if the body is ignored, so is its type, even one that Fastify would reject. */
export function ignoreBody(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  if (request.headers["content-type"] !== undefined) delete request.headers["content-type"];
  done();
}

/** Runs before validation, to distinguish an absent body from an invalid one. */
export function bodyCheck(schema: TSchema) {
  const required = isBodyRequired(schema);
  const { required: names = [] } = schema as { required?: readonly string[] }; // As in `isBodyRequired`.
  const problem = malformed(`The request has no body: send a JSON object with ${names.join(", ")}.`);
  return (request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void => {
    const missing = request.body === undefined;
    if (missing && !required) request.body = {};
    done(missing && required ? new ProblemError(problem) : undefined);
  };
}

/** Some clients begin with a byte order mark, which is not part of the JSON text (RFC 8259, section 8.1). */
const withoutMark = (text: string): string => (text.startsWith("\ufeff") ? text.slice(1) : text);

function parseBody(body: Buffer): unknown {
  if (body.length === 0) return undefined;
  if (!isUtf8(body)) throw new ProblemError(malformed("The body is not valid UTF-8."));
  try {
    // Members such as __proto__ are the object's own and unknown, and unknown members are ignored
    // (docs/design/dependencies.md, "At run time").
    return JSON.parse(withoutMark(body.toString()));
  } catch {
    throw new ProblemError(malformed("The body is not valid JSON."));
  }
}

/** An order with 100 lines is smaller. Reading a larger body can take milliseconds, up to fifteen for the largest. */
const LARGE_BODY_BYTES = 16 * 1024;

/** Waits until a body of this size may be read. Null if that is now. */
export type BodyTurn = (owner: Owner, bytes: number) => Promise<void> | null;

/**
 * Lets large bodies be read one at a time, with a round of the event loop for everything else between two of them, and those of
 * each owner in turn (docs/design/database.md, "Plans and statistics"). Otherwise a hundred of them that arrive together would
 * stop all other requests of the process until the last one is read.
 */
export function createBodyTurns(nextRound: (start: () => void) => void = setImmediate): BodyTurn {
  const waiting = new FairQueue<{ start(): void }>();

  function startNext(): void {
    const [next] = waiting.take(1);
    next?.start();
    if (waiting.size > 0) nextRound(startNext);
  }

  return (owner, bytes) => {
    if (bytes <= LARGE_BODY_BYTES) return null;
    return new Promise((start) => {
      waiting.add(owner, { start });
      if (waiting.size === 1) nextRound(startNext);
    });
  };
}
