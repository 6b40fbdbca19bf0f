import type { Static, TSchema } from "typebox";
import type { Initiator } from "../../audit/initiator.ts";
import type { Problem, ProblemCode, ValidationError } from "../../platform/wire/problems.ts";
import type { RouteDescription } from "../route-description.ts";
import type { Upload } from "./upload.ts";

/** What a handler returns on success: a body to be serialized, or JSON that is text already, or neither. */
export type RouteResponse = {
  status: number;
  body?: unknown;
  json?: string;
  headers?: Readonly<Record<string, string>>;
};

type RouteInput<Caller, Params, Query, Headers, Body> = {
  caller: Caller;
  /** The caller, the request and the operation, for the audit log. */
  by: Initiator;
  params: Params;
  query: Query;
  headers: Headers;
  body: Body;
};

type Shape<S> = S extends TSchema ? Static<S> : Record<string, never>;
type BodyShape<Body, Taken> = Taken extends Upload ? AsyncIterable<Buffer> : Shape<Body>;

type RouteShape<
  Operations,
  Caller,
  Params extends TSchema | undefined,
  Query extends TSchema | undefined,
  Headers extends TSchema | undefined,
  Body extends TSchema | undefined,
  Taken extends Upload | undefined,
> = RouteDescription & {
  params?: Params;
  query?: Query;
  headers?: Headers;
  body?: Body;
  upload?: Taken;
  /** Whether this kind of caller may use the route at all; absent: every caller may. Never depends on what is named. */
  admits?(caller: Caller): boolean;
  /**
   * Errors of the body that its schema cannot find; they are reported together with the schema's. So the body may be
   * anything here, and the resource of the path may be missing: `handle` rejects that, and gets valid bodies only.
   */
  bodyErrors?(
    input: { caller: Caller; params: Shape<Params>; body: unknown },
    operations: Operations,
  ): Promise<ValidationError[]>;
  handle(
    input: RouteInput<Caller, Shape<Params>, Shape<Query>, Shape<Headers>, BodyShape<Body, Taken>>,
    operations: Operations,
  ): Promise<RouteResponse | Problem>;
};

/**
 * One row of a listener's route table: it validates, serves and documents the route. A row is a constant: what its
 * handler works with comes in as `operations`, which are made once for a listener.
 */
export type Route<Operations, Caller> = RouteDescription & {
  admits?(caller: Caller): boolean;
  // Rows of different shapes are in one table: each takes what its own schemas have validated, and nothing else.
  bodyErrors?(input: never, operations: Operations): Promise<ValidationError[]>;
  handle(input: never, operations: Operations): Promise<RouteResponse | Problem>;
};

/** Problems that any authenticated route may return; the description lists them for all. */
export const SHARED_PROBLEMS: readonly ProblemCode[] = [
  "malformed-request",
  "unauthorized",
  "internal-error",
  "unavailable",
];

/** Declares the rows of a table; a handler's input has the types of the schemas that validate it. */
export const routeTable =
  <Operations, Caller>() =>
  <
    Params extends TSchema | undefined = undefined,
    Query extends TSchema | undefined = undefined,
    Headers extends TSchema | undefined = undefined,
    Body extends TSchema | undefined = undefined,
    Taken extends Upload | undefined = undefined,
  >(
    shape: RouteShape<Operations, Caller, Params, Query, Headers, Body, Taken>,
  ): Route<Operations, Caller> =>
    shape;
