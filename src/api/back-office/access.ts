import type { Actor } from "../../lifecycle/applied-transition.ts";
import { callerMembers } from "../http/log/caller-members.ts";
import { type Route, routeTable } from "../http/route.ts";
import type { BackOfficeOperations } from "./operations.ts";

type Named = {
  /** What timeline and audit log call the caller. */
  readonly name: string;
  /** The id on the wire of the token that the caller has sent. Absent or null: `OPERATOR_TOKEN`, or the command line. */
  readonly id?: string | null;
};

/**
 * The caller of a back office request: a program or a person of the operator, of the warehouse or of a merchant, or one
 * that only reads. All of them use the same operations; decisions 0038 and 0077 define their permissions.
 */
export type BackOfficeCaller = Named &
  (
    | { readonly kind: "operator" | "warehouse" | "support" | "monitoring" }
    /** Sees the data of these merchants, and nothing else. */
    | { readonly kind: "merchant"; readonly merchantIds: readonly string[] }
  );

type Admission = (caller: BackOfficeCaller) => boolean;

const admitted =
  (...kinds: readonly BackOfficeCaller["kind"][]): Admission =>
  ({ kind }) =>
    kinds.includes(kind);

/** Who may use a route. Every route of the back office names one of these. Those that read admit support as well. */
export const operatorOnly: Admission = admitted("operator");
/** Not even support, though it reads: it returns personal data of many buyers at once. */
export const operatorAlone: Admission = admitted("operator");
export const warehouse: Admission = admitted("operator", "warehouse");
export const merchantSide: Admission = admitted("operator", "merchant");
export const everyone: Admission = admitted("operator", "warehouse", "merchant");
export const everyToken: Admission = admitted("operator", "warehouse", "merchant", "support", "monitoring");

/** Also for programs that monitor: of a route that reads, and returns no personal data of buyers or of staff. */
export const andMonitoring =
  (admits: Admission): Admission =>
  (caller) =>
    caller.kind === "monitoring" || admits(caller);

/** Support sees what the operator sees, but for exports, and changes nothing (decision 0077). */
export const admittingSupport = (row: BackOfficeRoute): BackOfficeRoute =>
  row.method === "GET" && row.admits !== operatorAlone
    ? { ...row, admits: (caller) => caller.kind === "support" || row.admits?.(caller) !== false }
    : row;

const KINDS = ["operator", "warehouse", "merchant", "support", "monitoring"] as const;

/** The roles that a row admits: it depends on nothing else. */
export const rolesOf = ({ admits = () => true }: BackOfficeRoute): BackOfficeCaller["kind"][] =>
  KINDS.filter((kind) =>
    admits(kind === "merchant" ? { kind, name: kind, merchantIds: [] } : { kind, name: kind }),
  );

/** The merchants that a caller is restricted to. Null for callers that may see the data of all merchants. */
export const confinedTo = (caller: BackOfficeCaller): readonly string[] | null =>
  caller.kind === "merchant" ? caller.merchantIds : null;

/** The merchants whose data a list shows, if one is requested or not. None of those that the caller may not see. */
export function shownMerchants(caller: BackOfficeCaller, requested: string | null): readonly string[] | null {
  const own = confinedTo(caller);
  if (requested === null) return own;
  return own === null || own.includes(requested) ? [requested] : [];
}

/** Whether a caller may see this merchant's data. Data that it may not see is treated as missing. */
export const maySee = (caller: BackOfficeCaller, merchantId: string): boolean =>
  confinedTo(caller)?.includes(merchantId) ?? true;

/** The caller as the timeline of an order and the audit log name it. */
export const actorOf = ({ kind, name, id = null }: BackOfficeCaller): Actor => ({ kind, name, id });

/** The caller as the request log names it. */
export const membersOf = callerMembers<BackOfficeCaller>(
  ({ kind, name, id }) => `${kind} ${id} ${name}`,
  ({ kind, name, id }) => ({ actor: { kind, name, ...(id != null && { id }) } }),
);

/** Declares a row of the back office's table. */
export const route = routeTable<BackOfficeOperations, BackOfficeCaller>();

export type BackOfficeRoute = Route<BackOfficeOperations, BackOfficeCaller>;
