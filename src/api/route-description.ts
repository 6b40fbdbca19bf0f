import type { TSchema } from "typebox";
import type { ProblemCode } from "../platform/wire/problems.ts";
import type { Upload } from "./http/upload.ts";

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
  /** It needs neither a token nor a session: with it one signs in. */
  readonly isOpen?: boolean;
  /** The roles that may use it. Absent: the listener has no roles. */
  readonly roles?: readonly string[];
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
  /** It reads a list, and so uses the connections to the database that lists have (decision 0066). */
  readonly isList?: boolean;
  /** Problems of this route, in addition to `SHARED_PROBLEMS`. */
  readonly problems: readonly ProblemCode[];
};
