import type { Actor } from "../../lifecycle/applied-transition.ts";
import { callerMembers } from "../http/log/caller-members.ts";
import { type Route, routeTable } from "../http/route.ts";
import type { BackOfficeOperations } from "./operations.ts";

/**
 * The caller of a back office request: the operator's programs, a member of the warehouse staff, or a member of one
 * merchant's staff. All of them use the same operations; decision 0038 defines their permissions.
 */
export type BackOfficeCaller =
  | { readonly kind: "operator" | "warehouse"; readonly name: string }
  /** Sees the data of this merchant, and nothing else. */
  | { readonly kind: "merchant"; readonly merchantId: string; readonly name: string };

type Admission = (caller: BackOfficeCaller) => boolean;

/** Who may use a route. Every route of the back office names one of these. */
export const operatorOnly: Admission = ({ kind }) => kind === "operator";
export const warehouse: Admission = ({ kind }) => kind !== "merchant";
export const merchantSide: Admission = ({ kind }) => kind !== "warehouse";
export const everyone: Admission = () => true;

/** The merchant that a caller is restricted to. Null for callers that may see the data of all merchants. */
export const confinedTo = (caller: BackOfficeCaller): string | null =>
  caller.kind === "merchant" ? caller.merchantId : null;

/** Whether a caller may see this merchant's data. Data that it may not see is treated as missing. */
export const maySee = (caller: BackOfficeCaller, merchantId: string): boolean =>
  caller.kind !== "merchant" || caller.merchantId === merchantId;

/** The caller as the timeline of an order and the audit log name it. */
export const actorOf = ({ kind, name }: BackOfficeCaller): Actor => ({ kind, name });

/** The caller as the request log names it. */
export const membersOf = callerMembers<BackOfficeCaller>(
  ({ kind, name }) => `${kind} ${name}`,
  (caller) => ({ actor: actorOf(caller) }),
);

/** Declares a row of the back office's table. */
export const route = routeTable<BackOfficeOperations, BackOfficeCaller>();

export type BackOfficeRoute = Route<BackOfficeOperations, BackOfficeCaller>;
