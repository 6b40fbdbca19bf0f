import type { Static, TSchema } from "typebox";
import type { Initiator } from "../../audit/initiator.ts";
import type { Problem, ProblemCode, ValidationError } from "../../platform/wire/problems.ts";
import type { RouteDescription } from "../route-description.ts";
import type { Upload } from "./upload.ts";

/** The response of a successful request: a body to serialize, JSON, or neither. */
export type RouteResponse = {
  status: number;
  body?: unknown;
  /** A long text as bytes, if several requests share it: each of them would copy a string. */
  json?: string | Buffer;
  headers?: Readonly<Record<string, string | string[]>>;
};

type RouteInput<Caller, Params, Query, Headers, Body> = {
  caller: Caller;
  /** The caller, the request and the operation, for the audit log. */
  by: Initiator;
  /** The id of the request, as in `x-request-id`. */
  id: string;
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
  Role extends string,
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
  /** The roles that may use the route. Default: every caller may. They do not depend on the resource. */
  admits?: readonly Role[];
  /**
   * Errors of the body that its schema cannot find. They are reported together with those of the schema. So the body
   * can have any form here, and the resource of the path can be missing. `handle` receives only valid bodies.
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
 * A row of a listener's route table. It validates, serves and documents the route. A row is a constant: its handler
 * receives `operations`, which are created once for a listener.
 */
export type Route<Operations, Role extends string = string> = RouteDescription & {
  readonly admits?: readonly Role[];
  // A table contains rows with different inputs. Each row receives only input that its own schemas have validated.
  bodyErrors?(input: never, operations: Operations): Promise<ValidationError[]>;
  handle(input: never, operations: Operations): Promise<RouteResponse | Problem>;
};

/** Problems that every authenticated route can return. */
export const SHARED_PROBLEMS: readonly ProblemCode[] = [
  "malformed-request",
  "unauthorized",
  "internal-error",
  "unavailable",
];

/** Declares the rows of a table. A handler's input has the types of the schemas that validate it. */
export const routeTable =
  <Operations, Caller, Role extends string = string>() =>
  <
    Params extends TSchema | undefined = undefined,
    Query extends TSchema | undefined = undefined,
    Headers extends TSchema | undefined = undefined,
    Body extends TSchema | undefined = undefined,
    Taken extends Upload | undefined = undefined,
  >(
    shape: RouteShape<Operations, Caller, Role, Params, Query, Headers, Body, Taken>,
  ): Route<Operations, Role> =>
    shape;
