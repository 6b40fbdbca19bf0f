import { type Static, type TSchema, Type } from "typebox";
import type { Initiator } from "../audit/record-audit.ts";
import type { RouteScope } from "../audit/scope.ts";
import { fromTypeId, type IdPrefix } from "../platform/ids.ts";
import type { Problem, ProblemCode, ValidationError } from "../platform/wire/problems.ts";
import type { Upload } from "./upload.ts";

/** The response of a successful request: a body to serialize, JSON, or neither. */
export type RouteResponse = {
  status: number;
  body?: unknown;
  /** A long text as bytes, if several requests share it: each of them would copy a string. */
  json?: string | Buffer;
  headers?: Readonly<Record<string, string | string[]>>;
  /** The connection is cut instead of a response. */
  isLost?: true;
  /** Called once when the client has the response, or has left: then with an error. */
  ended?(error?: unknown): void;
};

type RouteInput<Caller, Params, Query, Headers, Body> = {
  caller: Caller;
  /** The caller, the request and the operation, for the audit log. */
  by: Initiator;
  /** The id of the request, as in `x-request-id`. */
  id: string;
  /** Aborted when the client closes its connection. Made when it is read. */
  left: AbortSignal;
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

/** Objects that partners and the back office see differently, and that have the same title in both descriptions. */
const TWOFOLD: ReadonlySet<string> = new Set(["Order", "OrderLine", "Shipment", "Product"]);

/** A schema of the partner API in a response of the back office: `Order` is called `PartnerOrder` there. */
export const asPartnersSee = <S extends TSchema>(schema: S) => Type.Unsafe<Static<S>>(renamed(schema) as S); // Only titles differ.

function renamed(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(renamed);
  if (typeof part !== "object" || part === null) return part;
  const copy = {};
  // Symbols hold what a description says of one use of a schema, and properties that are not enumerated belong to
  // TypeBox: each is copied as what it is.
  for (const key of Reflect.ownKeys(part)) {
    const { value, ...flags } = Reflect.getOwnPropertyDescriptor(part, key) ?? {};
    const isTitle = key === "title" && typeof value === "string" && TWOFOLD.has(value);
    Reflect.defineProperty(copy, key, { ...flags, value: isTitle ? `Partner${value}` : renamed(value) });
  }
  return copy;
}

type FileDescription = { readonly mediaType: string; readonly example: string };

type SuccessDescription = {
  readonly description: string;
  readonly schema?: TSchema;
  /** Instead of `schema`, or as the caller chooses: a body that is not JSON, or several to choose from. */
  readonly file?: FileDescription | readonly FileDescription[];
  readonly headers?: Record<string, string>;
};

/** The data of a route: enough to describe the route, or to make a request for it. */
export type RouteDescription = {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With parameters in braces, as in the specification: `/v1/orders/{orderId}`. */
  readonly path: string;
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** It takes no token and no key. `sign-in`: with it one signs in, or it reads the session itself. `to-all`: it has no caller. */
  readonly isOpen?: "sign-in" | "to-all";
  /** The roles that may use it. Absent: the listener has no roles. */
  readonly roles?: readonly string[];
  /** The scope that a token needs. Absent in a listener with scopes: that of the group of the row. */
  readonly scope?: RouteScope;
  /** A person must have proved within 15 minutes who it is: it concerns keys, secrets or money. Tokens never need it. */
  readonly needsRecentAuthentication?: true;
  readonly params?: TSchema | undefined;
  readonly query?: TSchema | undefined;
  /** Unknown parameters of the query are ignored, as the specification's routes do. Default: they are rejected. */
  readonly ignoresUnknownParameters?: boolean;
  readonly headers?: TSchema | undefined;
  readonly body?: TSchema | undefined;
  /** Instead of `body`: a body that is not JSON and is read as it arrives. */
  readonly upload?: Upload | undefined;
  /** The responses to successful requests, by status. */
  readonly responses: Readonly<Record<number, SuccessDescription>>;
  /**
   * It reads a list, and so uses the connections to the database that lists have
   * (docs/design/isolation-and-limits.md, "Pools and fair shares").
   */
  readonly isList?: boolean;
  /** It takes from the allowance of polls, and not from that of requests. */
  readonly isPoll?: true;
  /** How a client may repeat it without asking (src/partner-api/retries.ts). Default: a GET always, another one only if it was rejected. */
  readonly retry?: "repeat" | "until-gone" | "rejected";
  /** Problems of this route, in addition to `SHARED_PROBLEMS`. */
  readonly problems: readonly ProblemCode[];
};

/** The UUID in a filter of a query. Null if the filter is absent or not an id. */
export const idIn = (prefix: IdPrefix, text: string | undefined): string | null =>
  text === undefined ? null : fromTypeId(prefix, text);

/** The error of a filter that is not an id. */
export function idErrors<Name extends string>(
  prefix: IdPrefix,
  parameter: Name,
  query: { [name in Name]?: string },
): ValidationError[] {
  const fits = query[parameter] === undefined || idIn(prefix, query[parameter]) !== null;
  return fits ? [] : [{ parameter, rule: "id_prefix", prefix: `${prefix}_` }];
}
