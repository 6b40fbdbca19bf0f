import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";
import type { Config } from "../../platform/config.ts";
import { SECOND_MS } from "../../platform/time.ts";
import { ProblemError } from "../../platform/wire/problem-error.ts";
import { type Problem, validationFailed } from "../../platform/wire/problems.ts";
import { foreignOrigin, isSameOrigin } from "./people/same-origin.ts";

/** The partner API of a demo, with what a first request needs. */
export type DemoApi = { readonly url: string; readonly testKey: string; readonly productId: string };

/** Null until the demo data is there. */
export type FindDemoApi = () => DemoApi | null;

const TIMEOUT_MS = 30 * SECOND_MS;
/** Of a response, a page shows no more. */
const RESPONSE_BYTES_MAX = 1_048_576;

const Request = Type.Object({
  method: Type.Union(["GET", "POST", "PATCH", "DELETE"].map((method) => Type.Literal(method))),
  path: Type.String({ pattern: "^/v1/", maxLength: 4_000 }),
  key: Type.String({ pattern: "^[\\x21-\\x7e]+$", maxLength: 255 }),
  idempotencyKey: Type.Optional(Type.String({ pattern: "^[\\x20-\\x7e]+$", maxLength: 255 })),
  body: Type.Optional(Type.String()),
});

/**
 * In a demo, the pages of the API reference send requests to its partner API: through this listener, because a page may
 * send to its own origin alone, and the partner API has no CORS (decision 0163). `try.json` says whether they may.
 * Elsewhere it is a file without a key.
 */
export function addTryIt(app: FastifyInstance, docsPath: string, config: Config, find: FindDemoApi): void {
  const demo = (request: FastifyRequest): DemoApi | null => (isOwnHost(request, config) ? find() : null);
  app.get(`${docsPath}try.json`, async (request) => {
    const found = demo(request);
    return { key: found?.testKey ?? null, productId: found?.productId ?? null };
  });
  app.post<{ Body: Static<typeof Request> }>(
    `${docsPath}try`,
    { schema: { body: Request } },
    async (request) => {
      const found = demo(request);
      if (found === null || !isSameOrigin(request.headers, config)) throw new ProblemError(foreignOrigin);
      if (!request.body.key.startsWith("pok_test_")) throw new ProblemError(NO_TEST_KEY);
      return send(found, request.body);
    },
  );
}

const NO_TEST_KEY: Problem = validationFailed([
  { pointer: "/key", detail: "must be a test key: a browser must not hold a key that can place real orders" },
]);

/** Another site can give its own name the address of this machine. Its name is then the host of the request. */
function isOwnHost({ headers: { host = "" } }: FastifyRequest, { backOfficeUrl }: Config): boolean {
  const name = host.replace(/:\d+$/, "");
  return ["localhost", "127.0.0.1", "[::1]"].includes(name) || host === new URL(backOfficeUrl).host;
}

async function send({ url }: DemoApi, { method, path, key, idempotencyKey, body }: Static<typeof Request>) {
  const target = new URL(`${url}${path}`);
  // `..` and its encoded forms are resolved by now.
  if (!target.pathname.startsWith("/v1/")) throw new ProblemError(NO_PATH);
  const response = await fetch(target, {
    method,
    redirect: "manual",
    signal: AbortSignal.timeout(TIMEOUT_MS),
    headers: {
      authorization: `Bearer ${key}`,
      ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && method !== "GET" && { body }),
  });
  return {
    status: response.status,
    statusText: response.statusText,
    headers: Object.fromEntries(response.headers),
    body: await beginningOf(response),
  };
}

const NO_PATH: Problem = validationFailed([{ pointer: "/path", detail: "must be a path below /v1" }]);

async function beginningOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= RESPONSE_BYTES_MAX) break;
  }
  return Buffer.concat(chunks).toString("utf8", 0, RESPONSE_BYTES_MAX);
}
