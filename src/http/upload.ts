import type { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { FileBytes } from "../platform/tables/decode.ts";
import { WORKBOOK_TYPE } from "../platform/tables/write-table.ts";
import { SECOND_MS } from "../platform/time.ts";
import { malformed, type Problem, ProblemError } from "../platform/wire/problems.ts";
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
  scope.addContentTypeParser("*", (request, payload, done) => {
    const bytes = readUpload(payload, limitBytes, (count) =>
      turn({ merchantId: request.id, connectionId: request.id }, count),
    );
    const isWestern = CHARSETS.western.includes(charsetOf(request) ?? "");
    done(
      null,
      isWestern ? Object.assign(bytes, { declared: "windows-1252" } satisfies Partial<FileBytes>) : bytes,
    );
  });
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

/** Those that are read, by the names that programs use. ISO 8859-1 is read as Windows-1252, which has more letters, as browsers do. */
const CHARSETS = {
  unicode: ["utf-8", "utf8", "us-ascii", "utf-16", "utf-16le", "utf-16be"],
  western: ["windows-1252", "cp1252", "iso-8859-1", "latin1"],
};

const UNKNOWN_CHARSET: Problem = {
  code: "unsupported-media-type",
  detail:
    "The charset of Content-Type must be utf-8, utf-16, windows-1252 or iso-8859-1. Without one, it is recognised.",
};

const charsetOf = ({ headers }: FastifyRequest): string | undefined =>
  /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(headers["content-type"] ?? "")?.[1]?.toLowerCase();

function charsetProblem(request: FastifyRequest): Problem | null {
  const charset = charsetOf(request);
  return charset === undefined || Object.values(CHARSETS).flat().includes(charset) ? null : UNKNOWN_CHARSET;
}

/** An `onRequest` hook: runs before anything is read. */
export function uploadTypeCheck(upload: Upload) {
  const types = uploadExamples(upload).map(([mediaType]) => mediaType);
  return (request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void => {
    const [sent = ""] = (request.headers["content-type"] ?? "").split(";");
    const detail = `Content-Type must be ${types.join(" or ")}.`;
    const fits = types.includes(sent.trim().toLowerCase());
    const problem = fits
      ? (encodingProblem(request.headers) ?? charsetProblem(request))
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
