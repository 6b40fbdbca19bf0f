import type { Static, TSchema } from "typebox";
import type { Fault, Problem, ProblemCode } from "../../platform/wire/problems.ts";
import type { Upload } from "./upload.ts";

/** What a handler answers when all went well: a body to be serialised, or JSON that is text already, or neither. */
export type Answer = {
  status: number;
  body?: unknown;
  json?: string;
  headers?: Readonly<Record<string, string>>;
};

type RouteInput<Caller, Params, Query, Headers, Body> = {
  caller: Caller;
  params: Params;
  query: Query;
  headers: Headers;
  body: Body;
};

type Shape<S> = S extends TSchema ? Static<S> : Record<string, never>;
type BodyShape<Body, Taken> = Taken extends Upload ? AsyncIterable<Buffer> : Shape<Body>;

type RouteShape<
  Caller,
  Params extends TSchema | undefined,
  Query extends TSchema | undefined,
  Headers extends TSchema | undefined,
  Body extends TSchema | undefined,
  Taken extends Upload | undefined,
> = {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With parameters in braces, as in the specification: `/v1/orders/{orderId}`. */
  path: string;
  operationId: string;
  tag: string;
  summary: string;
  description?: string;
  params?: Params;
  query?: Query;
  headers?: Headers;
  body?: Body;
  /** Takes a body that is not JSON, as it arrives; in place of `body`. */
  upload?: Taken;
  /** What it answers when all went well, by status. */
  answers: Readonly<
    Record<number, { description: string; schema?: TSchema; headers?: Record<string, string> }>
  >;
  /** Whether this kind of caller may use the route at all; absent: every caller may. Never depends on what is named. */
  admits?(caller: Caller): boolean;
  /** What it may answer beyond the problems that every route shares (`SHARED_PROBLEMS`). */
  problems: readonly ProblemCode[];
  /**
   * Faults of the body that its schema cannot see; they are told together with the schema's. So the body may be
   * anything here, and what the path names may be missing: `handle` refuses that. It is called with faultless bodies only.
   */
  bodyFaults?(input: { caller: Caller; params: Shape<Params>; body: unknown }): Promise<Fault[]>;
  handle(
    input: RouteInput<Caller, Shape<Params>, Shape<Query>, Shape<Headers>, BodyShape<Body, Taken>>,
  ): Promise<Answer | Problem>;
};

/** One row of a listener's route table: it validates, answers and documents the route. */
export type Route<Caller> = Omit<
  RouteShape<Caller, TSchema, TSchema, TSchema, TSchema, Upload>,
  "bodyFaults" | "handle"
> & {
  // Rows of different shapes stand in one table: each takes what its own schemas have validated, and nothing else.
  bodyFaults?(input: never): Promise<Fault[]>;
  handle(input: never): Promise<Answer | Problem>;
};

/** Problems that any authenticated route may answer; the description lists them for all. */
export const SHARED_PROBLEMS: readonly ProblemCode[] = [
  "malformed-request",
  "unauthorized",
  "internal-error",
  "unavailable",
];

/** Declares the rows of a table; a handler's input has the types of the schemas that validate it. */
export const routeTable =
  <Caller>() =>
  <
    Params extends TSchema | undefined = undefined,
    Query extends TSchema | undefined = undefined,
    Headers extends TSchema | undefined = undefined,
    Body extends TSchema | undefined = undefined,
    Taken extends Upload | undefined = undefined,
  >(
    shape: RouteShape<Caller, Params, Query, Headers, Body, Taken>,
  ): Route<Caller> =>
    shape as Route<Caller>; // `Route` only forgets the types that were checked here.
