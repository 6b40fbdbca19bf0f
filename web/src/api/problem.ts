import type { ValidationError } from "./schema.d.ts";

/** A response of the service that is not a success: a problem document, or a response of something in between. */
export class ApiProblem extends Error {
  readonly code: string;
  readonly status: number;
  /** Explanation for people, in English. */
  readonly detail: string;
  /** Under this id the service has logged the request. Null if no response arrived. */
  readonly requestId: string | null;
  /** How long to wait before another attempt. Null if the service did not say it. */
  readonly retryAfterMs: number | null;
  /** The fields that are wrong. */
  readonly errors: readonly ValidationError[];
  /** All members of the problem document. */
  readonly members: Readonly<Record<string, unknown>>;

  constructor(status: number, headers: Headers, document: unknown) {
    const members = isObject(document) ? document : {};
    const detail = textOf(members["detail"]) ?? "";
    super(detail || `status ${status}`);
    this.code = textOf(members["code"]) ?? "unexpected-response";
    this.status = status;
    this.detail = detail;
    this.requestId = headers.get("x-request-id");
    this.retryAfterMs = secondsIn(headers.get("retry-after"));
    // The description of `validation-failed` says so.
    this.errors = Array.isArray(members["errors"]) ? (members["errors"] as ValidationError[]) : [];
    this.members = members;
  }
}

/** No response arrived: the network is down, or the service is. Whether it has made a change is not known. */
export const unanswered = (
  code: "unreachable" | "timed-out",
  { isChange }: { readonly isChange: boolean },
): ApiProblem => new ApiProblem(0, new Headers(), { code, isChange });

/** True if the request may have had its effect, although it failed. */
export const isUncertain = (error: unknown): boolean =>
  error instanceof ApiProblem && error.status === 0 && error.members["isChange"] === true;

/** The code of a problem. Null if the response has none. Its body can still be read. */
export async function codeOf(response: Response): Promise<unknown> {
  const document: unknown = await response
    .clone()
    .json()
    .catch(() => null);
  return isObject(document) ? (document["code"] ?? null) : null;
}

export const isProblem = (error: unknown, code: string): error is ApiProblem =>
  error instanceof ApiProblem && error.code === code;

/** The service sends seconds. A proxy may send a date instead. */
const secondsIn = (text: string | null): number | null =>
  text !== null && /^\d{1,6}$/.test(text) ? Number(text) * 1000 : null;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);
