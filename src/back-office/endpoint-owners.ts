import { type ConnectionScope, connectionScope, facilityScope, type Grant } from "../audit/grant.ts";
import { keyOf } from "../merchants/connection.ts";
import type { ConnectionKey } from "../platform/connection-key.ts";
import type { Context } from "../platform/context.ts";
import { notFound, type Problem } from "../platform/wire/problems.ts";
import { facilityOwner, merchantOwner, type OwnerKind, WAREHOUSE_ID } from "../webhooks/owner.ts";
import { type Admission, andPartner, type BackOfficeCaller, merchantSide, warehouse } from "./access.ts";
import {
  ConnectionIdParams,
  FacilityIdParams,
  findConnection,
  findFacility,
  findMerchant,
  MerchantIdParams,
} from "./lookups.ts";

/** A kind of owner of endpoints, as the routes of its endpoints, deliveries and resends name it. */
export type EndpointOwner = {
  readonly kind: OwnerKind;
  /** What paths begin with. */
  readonly path: string;
  readonly params: typeof ConnectionIdParams;
  readonly admits: Admission;
  /** The name of an operation: `pauseWebhookEndpoint` is `pauseMerchantWebhookEndpoint` for a merchant. */
  operation(name: string): string;
  /** Null both for a missing one and for one that the caller may not see. */
  find(context: Context, caller: BackOfficeCaller, id: string): Promise<ConnectionKey | null>;
  readonly missing: Problem;
};

const named = (word: string) => (name: string) => name.replace(/^[a-z]+/, (verb) => `${verb}${word}`);

/** The same operations for all (docs/design/deliveries.md, "Owners"). */
export const ENDPOINT_OWNERS: readonly EndpointOwner[] = [
  {
    kind: "connection",
    path: "/api/connections/{id}",
    params: ConnectionIdParams,
    admits: andPartner(merchantSide),
    operation: (name) => name,
    find: async (context, caller, id) => {
      const connection = await findConnection(context, caller, id);
      return connection === null ? null : keyOf(connection);
    },
    missing: notFound("connection"),
  },
  {
    kind: "merchant",
    path: "/api/merchants/{id}",
    params: MerchantIdParams,
    admits: merchantSide,
    operation: named("Merchant"),
    find: async (context, caller, id) => {
      const merchant = await findMerchant(context, caller, id);
      return merchant === null ? null : merchantOwner(merchant.id);
    },
    missing: notFound("merchant"),
  },
  {
    kind: "facility",
    path: "/api/facilities/{id}",
    params: FacilityIdParams,
    admits: warehouse,
    operation: named("Facility"),
    find: async (context, caller, id) => {
      const facility = await findFacility(context, caller, id);
      return facility === null ? null : facilityOwner(facility.id);
    },
    missing: notFound("facility"),
  },
];

/** The owners whose endpoints a caller sees, those of a warehouse among them. Null: all of them. */
export function ownerScope(grants: readonly Grant[]): ConnectionScope {
  const scope = connectionScope(grants.filter(({ role }) => role !== "warehouse"));
  if (scope === null) return null;
  const facilityIds = facilityScope(grants);
  return facilityIds === null
    ? { ...scope, merchantIds: [...scope.merchantIds, WAREHOUSE_ID] }
    : { ...scope, connections: [...scope.connections, ...facilityIds.map(facilityOwner)] };
}

/** Calls with the owner that a request names, if the caller may see it. */
export async function onOwner<Answer>(
  context: Context,
  caller: BackOfficeCaller,
  owner: EndpointOwner,
  id: string,
  handle: (key: ConnectionKey) => Promise<Answer>,
): Promise<Answer | Problem> {
  const key = await owner.find(context, caller, id);
  return key === null ? owner.missing : handle(key);
}
