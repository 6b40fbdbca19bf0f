import type { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { WORKBOOK_TYPE } from "../platform/tables/write-table.ts";
import { SECOND_MS } from "../platform/time.ts";
import { malformed, ProblemError } from "../platform/wire/problems.ts";
import { createBodyTurns, encodingProblem } from "./body.ts";

/** A body that is not JSON and can be large. Its route reads it as it arrives, so it is never completely in memory. */
export type Upload = {
  /** Such as `text/csv`. Parameters such as a charset can follow. */
  readonly mediaType: string;
  readonly limitBytes: number;
  /** A short body, for the OpenAPI document. */
  readonly example?: string;
  /** Such a body with a JSON object in each line, if the route reads these too. */
  readonly jsonLinesExample?: string;
  /** The route reads workbooks too. */
  readonly workbook?: true;
};

/** In the route's own scope: gives its handler the bytes, which throw an error beyond the limit. */
export function addUploadParser(scope: FastifyInstance, { limitBytes }: Upload): void {
  const turn = createBodyTurns();
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("*", (request, payload, done) =>
    done(
      null,
      readUpload(payload, limitBytes, (bytes) =>
        turn({ merchantId: request.id, connectionId: request.id }, bytes),
      ),
    ),
  );
  scope.addHook("onResponse", endUnread);
}

/** What a client may still send of a rejected upload, so that it reads the response. Then its connection is cut off. */
const UNREAD_MS = 5 * SECOND_MS;

function endUnread({ raw }: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  if (!raw.complete) setTimeout(() => raw.complete || raw.destroy(), UNREAD_MS).unref();
  done();
}

/** The media types that a route takes, each with its example. */
export const uploadExamples = ({
  mediaType,
  example,
  jsonLinesExample,
  workbook,
}: Upload): [mediaType: string, example: string | undefined][] => [
  [mediaType, example],
  ...(jsonLinesExample === undefined
    ? []
    : [["application/x-ndjson", jsonLinesExample] satisfies [string, string]]),
  ...(workbook ? [[WORKBOOK_TYPE, "the bytes of a workbook"] satisfies [string, string]] : []),
];

/** An `onRequest` hook: runs before anything is read. */
export function uploadTypeCheck(upload: Upload) {
  const types = uploadExamples(upload).map(([mediaType]) => mediaType);
  return (request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void => {
    const [sent = ""] = (request.headers["content-type"] ?? "").split(";");
    const detail = `Content-Type must be ${types.join(" or ")}.`;
    const fits = types.includes(sent.trim().toLowerCase());
    const problem = fits
      ? encodingProblem(request.headers)
      : { code: "unsupported-media-type" as const, detail };
    done(problem === null ? undefined : new ProblemError(problem));
  };
}

/** What is read in one round of the event loop: checking it takes some milliseconds. */
const PIECE_BYTES = 32 * 1024;

/** A client that sends nothing for this long is cut off: its upload keeps a place that others wait for. */
const STALLED_MS = 30 * SECOND_MS;
/** Each second that a client is waited for beyond it must have brought this much, so that a byte now and then keeps no place. */
const BYTES_PER_SECOND_MIN = 16 * 1024;

const STALLED = malformed(
  `The file did not arrive in time: nothing for ${STALLED_MS / SECOND_MS} s, or less than ${BYTES_PER_SECOND_MIN / 1_024} KiB a second. Nothing was stored: send it again.`,
);

/**
 * Chunks as they arrive. Only the time counts in which the client is waited for, not that in which its rows are checked.
 * @throws ProblemError if the client stalls
 */
async function* arriving(payload: Readable): AsyncGenerator<Buffer> {
  // Destroying the request would close its connection, and the client would lose the error.
  const chunks = payload.iterator({ destroyOnReturn: false })[Symbol.asyncIterator]();
  let waitedMs = 0;
  let received = 0;
  try {
    for (;;) {
      const earnedMs = (received / BYTES_PER_SECOND_MIN) * SECOND_MS;
      const leftMs = Math.min(STALLED_MS, STALLED_MS + earnedMs - waitedMs);
      const startedAt = performance.now();
      const next = await within(leftMs, chunks.next());
      if (next.done === true) return;
      waitedMs += performance.now() - startedAt;
      received += next.value.length;
      yield next.value;
    }
  } finally {
    void chunks.return?.(); // Not awaited: it would wait for the bytes that do not come.
  }
}

async function within<Result>(ms: number, pending: Promise<Result>): Promise<Result> {
  const { promise: stalled, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new ProblemError(STALLED)), ms);
  try {
    return await Promise.race([pending, stalled]);
  } finally {
    clearTimeout(timer);
  }
}

/** The pieces of an upload, in the turns of the process. */
export async function* readUpload(
  payload: Readable,
  limitBytes: number,
  turn: (bytes: number) => Promise<void> | null,
): AsyncGenerator<Buffer> {
  let received = 0;
  try {
    for await (const chunk of arriving(payload)) {
      received += chunk.length;
      if (received > limitBytes) throw new ProblemError(tooLarge(limitBytes));
      for (let start = 0; start < chunk.length; start += PIECE_BYTES) {
        const piece = chunk.subarray(start, start + PIECE_BYTES);
        await turn(piece.length);
        yield piece;
      }
    }
  } finally {
    payload.resume(); // A client that is still sending reads the response only afterwards.
  }
}

const tooLarge = (limitBytes: number) => ({
  code: "payload-too-large" as const,
  detail: `The body is larger than ${limitBytes / 1_048_576} MiB.`,
  members: { maxBytes: limitBytes },
});
