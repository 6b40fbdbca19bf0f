import {
  type BackOfficeCaller,
  facilityScope,
  grantsWith,
  merchantScope,
  ROLES,
  type Role,
  seesConnection,
  seesFacility,
  seesMerchant,
  stockScope,
  strongestRole,
} from "../audit/grant.ts";
import { hasScope, type RouteScope, SCOPES, type Scope, scopeRequired } from "../audit/scope.ts";
import { type ShippingRequest, shippingStore } from "../fulfilment/shipping.ts";
import { callerMembers } from "../http/request-log.ts";
import { type Route, type RouteDescription, routeTable } from "../http/route.ts";
import type { Actor } from "../lifecycle/applied-transition.ts";
import type { Order } from "../lifecycle/order.ts";
import { type SystemReader, systemReader } from "../operations/system.ts";
import { orderReader, type ReadOrder } from "../orders/reading/read-order.ts";
import type { ConnectionKey } from "../platform/connection-key.ts";
import { type Database, DatabaseUsage } from "../platform/database/database.ts";
import { type Owner, shareDatabase } from "../platform/database/fair-share.ts";
import { fromTypeId } from "../platform/ids.ts";
import { forbidden, type Problem } from "../platform/wire/problems.ts";
import type { WebhookContext } from "../webhooks/conditions-sql.ts";
import { BulkGate } from "./bulk-gate.ts";
import type { HealthContext } from "./health.ts";
import { UpdateHub } from "./updates/hub.ts";

export type { BackOfficeCaller } from "../audit/grant.ts";

/**
 * The roles that a row of the route table admits. Every row of the back office names one of these lists. They are the table of
 * access: for people and for tokens alike (docs/design/people.md, "Roles and grants" and "Tokens").
 */
export type Admission = readonly Role[];

// Rows that read admit support as well, see `admittingSupport`.
export const operatorOnly: Admission = ["operator"];
export const warehouse: Admission = ["operator", "warehouse"];
export const merchantSide: Admission = ["operator", "merchant"];
export const everyone: Admission = ["operator", "warehouse", "merchant"];
/** Not support, though it reads: such a file has the personal data of all buyers at once. */
export const everyoneButSupport: Admission = [...everyone];
export const warehouseButSupport: Admission = [...warehouse];
const BUT_SUPPORT: readonly (Admission | undefined)[] = [everyoneButSupport, warehouseButSupport];
export const everyToken: Admission = ROLES;

/** Also for programs that monitor: of a route that reads, and returns no personal data of buyers or of staff. */
export const andMonitoring = (admits: Admission): Admission => [...admits, "monitoring"];

/**
 * Also for a partner's developers, who see their connections: of a route that returns no price, no charge, no balance and
 * no name of staff, or that leaves them out for a partner.
 */
export const andPartner = (admits: Admission): Admission => [...admits, "partner"];

/** Support sees what the operator sees, but for exports, and changes nothing (docs/design/people.md, "Tokens"). */
export const admittingSupport = <Row extends BackOfficeRoute>(row: Row): Row =>
  row.method === "GET" && !BUT_SUPPORT.includes(row.admits)
    ? { ...row, admits: [...(row.admits ?? ROLES), "support"] }
    : row;

/** A row that needs recent authentication can return the problem that asks for it. */
export const namingRecentAuthentication = <Row extends BackOfficeRoute>(row: Row): Row =>
  row.needsRecentAuthentication
    ? { ...row, problems: [...row.problems, "recent-authentication-required"] }
    : row;

/** A row of the back office with the scope that a token needs. */
export type ScopedRoute = BackOfficeRoute & { readonly scope: RouteScope };

/** What a group of rows is about, as scopes name it. */
type ScopeGroup = Scope extends infer Each ? (Each extends `${infer Group}:read` ? Group : never) : never;

/**
 * Rows with their scopes: each its own, or that of the group. A group whose rows only read has no scope to write, so one that is
 * added later cannot be served before it has one.
 */
export const within = (group: ScopeGroup, rows: readonly BackOfficeRoute[]): ScopedRoute[] =>
  rows.map((row) => ({ ...row, scope: row.scope ?? scopeOf(group, row) }));

function scopeOf(group: ScopeGroup, { method, operationId }: BackOfficeRoute): Scope {
  const text = `${group}:${method === "GET" ? "read" : "write"}`;
  const scope = SCOPES.find((each) => each === text);
  if (scope === undefined) throw new Error(`${operationId} needs a scope: there is no ${text}`);
  return scope;
}

/** A row that every token may use. */
export const forEveryToken = (row: BackOfficeRoute): ScopedRoute => ({ ...row, scope: "every-token" });

/** 403: the token lacks the scope of the row. A row without a scope is for no token that has any. */
export function outOfScope({ scopes }: BackOfficeCaller, { scope }: RouteDescription): Problem | null {
  if (scopes === undefined) return null;
  if (scope === undefined) return forbidden;
  return scope === "every-token" || hasScope(scopes, scope) ? null : scopeRequired(scope);
}

/** The roles that a row admits, each once. */
export const rolesOf = ({ admits = ROLES }: BackOfficeRoute): Role[] =>
  ROLES.filter((role) => admits.includes(role));

/**
 * The caller as a row's handler sees it: with those of its grants that the row admits, and no others. So what a handler
 * shows follows from its grants alone. Null: the row does not admit the caller.
 */
export function admitted(
  caller: BackOfficeCaller,
  { admits = ROLES }: { readonly admits?: readonly string[] },
): BackOfficeCaller | null {
  const grants = grantsWith(caller.grants, admits);
  return grants.length === 0 ? null : { ...caller, grants };
}

/** True if a caller has a role. In a handler: one that the row admits. */
export const hasRole = ({ grants }: BackOfficeCaller, role: Role): boolean =>
  grants.some((grant) => grant.role === role);

/** The merchants that a caller is restricted to. Null for callers that may see the data of all merchants. */
export const confinedTo = ({ grants }: BackOfficeCaller): readonly string[] | null => merchantScope(grants);

/** The facilities that a caller is restricted to. Null for callers that may see all of them. */
export const facilitiesOf = ({ grants }: BackOfficeCaller): readonly string[] | null => facilityScope(grants);

/** The facilities at which a caller sees the stock of a merchant's products. Null: all of them. */
export const stockFacilitiesOf = (
  { grants }: BackOfficeCaller,
  merchantId: string,
): readonly string[] | null => stockScope(grants, merchantId);

/** The merchants whose data a list shows, if one is requested or not. None of those that the caller may not see. */
export function shownMerchants(caller: BackOfficeCaller, requested: string | null): readonly string[] | null {
  const own = confinedTo(caller);
  if (requested === null) return own;
  return own === null || own.includes(requested) ? [requested] : [];
}

/** The same for facilities. */
export function shownFacilities(
  caller: BackOfficeCaller,
  requested: string | null,
): readonly string[] | null {
  const own = facilitiesOf(caller);
  if (requested === null) return own;
  return own === null || own.includes(requested) ? [requested] : [];
}

/** True if a caller may see this merchant's data. Data that it may not see is treated as missing. */
export const maySee = ({ grants }: BackOfficeCaller, merchantId: string): boolean =>
  seesMerchant(grants, merchantId);

/** True if a caller may see this connection, its endpoints and its deliveries. */
export const maySeeConnection = ({ grants }: BackOfficeCaller, connection: ConnectionKey): boolean =>
  seesConnection(grants, connection);

/**
 * True if only the role partner shows this connection. Such a caller sees nothing of the merchant's business
 * (docs/design/people.md, "Partners' developers").
 */
export const seesAsPartner = ({ grants }: BackOfficeCaller, connection: ConnectionKey): boolean =>
  !seesConnection(
    grants.filter(({ role }) => role !== "partner"),
    connection,
  );

/** True if a caller may see this facility, its stock and its work. */
export const maySeeFacility = ({ grants }: BackOfficeCaller, facilityId: string): boolean =>
  seesFacility(grants, facilityId);

/** The role by which the caller is named. In a handler: the one with the most rights of those that the row admits. */
export const roleOf = ({ grants }: BackOfficeCaller): Role => strongestRole(grants) ?? "monitoring"; // Without grants it is admitted nowhere.

/** `OPERATOR_TOKEN` has no id. */
const OPERATOR_ID = "00000000-0000-0000-0000-000000000000";

const idOf = ({ type, id }: BackOfficeCaller): string =>
  (id === null ? null : fromTypeId(type === "person" ? "per" : "tok", id)) ?? OPERATOR_ID;

/**
 * Whose allowances and turns a caller uses. The role partner uses those of its connection, the role merchant has a part of those
 * of its merchant; of several, the first one counts. All others have their own, which no tenant can use up
 * (docs/design/isolation-and-limits.md, "Rate limit").
 */
export function ownerOf(caller: BackOfficeCaller): Owner {
  const id = idOf(caller);
  const role = strongestRole(caller.grants);
  const grant = caller.grants.find((candidate) => candidate.role === role);
  if (grant?.role === "partner") return grant.connections[0] ?? { merchantId: id, connectionId: id };
  const merchantId = grant?.role === "merchant" ? grant.merchantIds[0] : undefined;
  return { merchantId: merchantId ?? id, connectionId: id };
}

/** The caller as the timeline of an order and the audit log name it. */
export const actorOf = (caller: BackOfficeCaller): Actor => ({
  kind: roleOf(caller),
  name: caller.name,
  id: caller.id,
});

/** The caller as the request log names it. */
export const membersOf = callerMembers<BackOfficeCaller>(
  (caller) => `${roleOf(caller)} ${caller.id} ${caller.name}`,
  (caller) => {
    const { kind, name, id } = actorOf(caller);
    return { actor: { kind, name, ...(id != null && { id }) } };
  },
);

/** Declares a row of the back office's table. */
export const route = routeTable<BackOfficeOperations, BackOfficeCaller, Role>();

export type BackOfficeRoute = Route<BackOfficeOperations, Role>;

/** The operations that handlers of the back office receive. */
type BackOfficeOperations = {
  readonly context: WebhookContext;
  readonly bulk: BulkGate;
  readonly readOrder: ReadOrder;
  readonly storeShipping: (request: ShippingRequest) => Promise<Order | Problem>;
  readonly system: SystemReader;
  readonly updates: UpdateHub;
};

/** Calls that use the database at the same time. */
const CALLS_MAX = 5;

/**
 * Creates them once for a listener, so that reads that arrive together are done together. `of` returns those of a caller, whose
 * database is shared fairly with the calls of others (docs/design/isolation-and-limits.md, "Pools and fair shares").
 * @param health its connections read the state of the service, so that this does not depend on what others do
 * @param bulkDb its connections do bulk work, so that the requests of others do not wait for it
 */
export function backOfficeOperations(
  context: WebhookContext,
  health: Pick<HealthContext, "db" | "stopping"> = context,
  bulkDb: Database = context.db,
  usage: DatabaseUsage = new DatabaseUsage(),
): { of(caller: BackOfficeCaller): BackOfficeOperations; updates: UpdateHub } {
  const shared = shareDatabase(context.db, CALLS_MAX);
  usage.addQueue("back-office", shared.waiting);
  const bulk = new BulkGate(context, bulkDb);
  const readOrder = orderReader(context);
  const storeShipping = shippingStore();
  const system = systemReader({ ...context, db: health.db });
  const updates = new UpdateHub(context, health.stopping);
  return {
    of: (caller) => ({
      context: { ...context, db: shared.of(ownerOf(caller)) },
      bulk,
      readOrder,
      storeShipping: (request) => storeShipping({ ...request, owner: ownerOf(caller) }),
      system,
      updates,
    }),
    updates,
  };
}
