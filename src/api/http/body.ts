import { isUtf8 } from "node:buffer";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { TSchema } from "typebox";
import { ProblemError } from "../../platform/wire/problem-error.ts";
import { malformed, type Problem } from "../../platform/wire/problems.ts";

/** Largest body taken, in bytes (decision 0006). */
export const BODY_LIMIT_BYTES = 256 * 1024;

const UNSUPPORTED: Problem = {
  code: "unsupported-media-type",
  detail: "Content-Type must be application/json.",
};

const MISSING = malformed("The request has no body.");

/** A body whose fields are all optional may be left out whole; the request is taken as if it had sent `{}`. */
export function isBodyRequired(schema: TSchema): boolean {
  const { required = [] } = schema as { required?: readonly string[] }; // Of an object's schema.
  return required.length > 0;
}

/** Bodies are JSON. A route that takes none has `ignoreBody` among its hooks, one that does has `bodyCheck`. */
export function addBodyParsers(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    "application/json",
    { parseAs: "buffer" },
    async (_request: FastifyRequest, body: Buffer) => parseBody(body),
  );
  app.addContentTypeParser("*", { parseAs: "buffer" }, async (request: FastifyRequest, body: Buffer) => {
    const schema = request.routeOptions.schema?.body as TSchema | undefined; // As the route's row has it.
    if (schema === undefined) return;
    if (body.length > 0 || isBodyRequired(schema)) throw new ProblemError(UNSUPPORTED);
  });
}

/**
 * On request: where the body does not matter its type does not either, not even one that Fastify itself would reject.
 */
export function ignoreBody(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  if (request.headers["content-type"] !== undefined) delete request.headers["content-type"];
  done();
}

/** Before validation, so that an absent body can be distinguished from an invalid one. */
export function bodyCheck(schema: TSchema) {
  const required = isBodyRequired(schema);
  return (request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void => {
    const missing = request.body === undefined;
    if (missing && !required) request.body = {};
    done(missing && required ? new ProblemError(MISSING) : undefined);
  };
}

/** Some clients begin with a byte order mark, which is no part of the JSON text (RFC 8259, section 8.1). */
const withoutMark = (text: string): string => (text.startsWith("\ufeff") ? text.slice(1) : text);

function parseBody(body: Buffer): unknown {
  if (body.length === 0) return undefined;
  if (!isUtf8(body)) throw new ProblemError(malformed("The body is not valid UTF-8."));
  try {
    // Members such as __proto__ are the object's own and unknown, and unknown members are ignored (decision 0025).
    return JSON.parse(withoutMark(body.toString()));
  } catch {
    throw new ProblemError(malformed("The body is not valid JSON."));
  }
}
