import type { OPERATIONS } from "./generated/operations.ts";
import type { Problem } from "./generated/types.ts";

/** Name of an operation, as `operationId` in the OpenAPI document. */
export type OperationId = keyof typeof OPERATIONS;

/** What every failed request says about itself. */
export type FailedRequest = {
  /** The operation that failed. */
  readonly operation: OperationId;
  /** How often the request was sent, 1 or more. */
  readonly attempts: number;
  /** `x-request-id` of the last response, for the operator of the service. Null without a response. */
  readonly requestId: string | null;
};

/**
 * A request failed. Each of its classes is a reason:
 * {@link ProblemError}: the service rejected it. {@link NetworkError}, {@link TimeoutError}: there was no response, so a change may
 * have happened or not. {@link UnexpectedResponseError}: what responded is not the service, such as a proxy.
 * An aborted request throws the reason of its `AbortSignal` instead.
 */
export abstract class PartnerOrdersError extends Error implements FailedRequest {
  readonly operation: OperationId;
  readonly attempts: number;
  readonly requestId: string | null;

  constructor(message: string, { operation, attempts, requestId }: FailedRequest, options?: ErrorOptions) {
    super(`${operation}: ${message}${requestId === null ? "" : ` (request ${requestId})`}`, options);
    this.name = new.target.name;
    this.operation = operation;
    this.attempts = attempts;
    this.requestId = requestId;
  }
}

/**
 * The service rejected the request with a problem document (RFC 9457). Decide by `code`:
 *
 * ```ts
 * if (isProblem(error))
 *   switch (error.code) {
 *     case "order-not-cancelable":
 *       return error.problem.orderStatus; // Each code has its own members.
 *     default: // New codes may be added.
 *       throw error;
 *   }
 * ```
 */
export class ProblemError<P extends Problem = Problem> extends PartnerOrdersError {
  /** What is wrong, the same in every deployment. */
  readonly code: P["code"];
  /** The HTTP status. */
  readonly status: number;
  /** The problem document, with the members of its code. */
  readonly problem: P;
  /** Seconds of `Retry-After`, if the response had it. */
  readonly retryAfterSeconds: number | null;

  constructor(problem: P, request: FailedRequest & { readonly retryAfterSeconds: number | null }) {
    super(`${problem.status} ${problem.code}: ${problem.detail}`, request);
    this.code = problem.code;
    this.status = problem.status;
    this.problem = problem;
    this.retryAfterSeconds = request.retryAfterSeconds;
  }
}

/** A {@link ProblemError} of any code, which a `switch` over `code` narrows. */
export type AnyProblemError = Problem extends infer P ? (P extends Problem ? ProblemError<P> : never) : never;

/** Whether the service rejected a request with a problem document, and not the network or something in between. */
export const isProblem = (error: unknown): error is AnyProblemError => error instanceof ProblemError;

/** No response arrived: no connection, or it broke. Whether the request had its effect is unknown. */
export class NetworkError extends PartnerOrdersError {}

/** No complete response arrived in time. Whether the request had its effect is unknown. */
export class TimeoutError extends PartnerOrdersError {}

/** The response is not one of the service: it may come from a proxy, or from another address. */
export class UnexpectedResponseError extends PartnerOrdersError {
  /** The HTTP status. */
  readonly status: number;

  constructor(status: number, request: FailedRequest) {
    super(`${status} without the body that the service returns`, request);
    this.status = status;
  }
}
