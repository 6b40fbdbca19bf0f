import { type Static, Type } from "typebox";
import { GRANT_THINGS_MAX, type Grant, ROLES, type Role } from "../audit/grant.ts";
import { findFacilityIds } from "../fulfilment/facilities-sql.ts";
import { findConnectionKeys } from "../merchants/connections-sql.ts";
import { findMerchants } from "../merchants/merchants-sql.ts";
import type { Context } from "../platform/context.ts";
import { fromTypeId, toTypeId } from "../platform/ids.ts";
import type { ValidationError } from "../platform/wire/problems.ts";
import { describedAs, enumeration, nullable } from "../platform/wire/schemas.ts";
import { type BackOfficeCaller, hasRole, maySee, maySeeConnection, maySeeFacility } from "./access.ts";
import { valueAt } from "./money/amounts.ts";

export const RoleSchema = enumeration(
  "Role",
  ROLES,
  [
    "`operator`: everything.",
    "`warehouse`: what the warehouse does, for all facilities or for named ones.",
    "`merchant`: what a merchant does, for named merchants.",
    "`partner`: what a partner's developers see and do, for named connections.",
    "`support`: reads what the operator reads, with personal data of buyers, exports no orders, and changes nothing.",
    "`monitoring`: reads settings, stock and balances, without personal data of buyers, and changes nothing.",
  ].join(" "),
);

/** The fields of a grant on the wire. */
export const grantWireFields = {
  role: describedAs(RoleSchema, "What is allowed. It does not change."),
  merchantIds: Type.Array(Type.String(), {
    description:
      "Merchants whose data the role `merchant` gives access to. Empty for other roles. They do not change.",
  }),
  facilityIds: nullable(
    Type.Array(Type.String()),
    "Facilities whose orders and stock the role `warehouse` gives access to. Null: all facilities, and for other roles. They do not change.",
  ),
  connectionIds: Type.Array(Type.String(), {
    description:
      "Connections that the role `partner` gives access to. Empty for other roles. They do not change.",
  }),
};

export const GrantSchema = Type.Object(grantWireFields, {
  title: "Grant",
  description: "A role of a caller, and what it is for.",
});

export const toWireGrant = (grant: Grant): Static<typeof GrantSchema> => ({
  role: grant.role,
  merchantIds: grant.role === "merchant" ? grant.merchantIds.map((id) => toTypeId("mer", id)) : [],
  facilityIds:
    grant.role === "warehouse" ? (grant.facilityIds?.map((id) => toTypeId("fac", id)) ?? null) : null,
  connectionIds:
    grant.role === "partner"
      ? grant.connections.map(({ connectionId }) => toTypeId("con", connectionId))
      : [],
});

const named = (description: string) =>
  Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: GRANT_THINGS_MAX, description }));

/** The fields of a request that give a role, and say what it is for. */
export const grantFields = {
  role: describedAs(RoleSchema, "What is allowed."),
  merchantIds: named(
    "Merchants whose data the role `merchant` gives access to. Required for that role, and absent for others.",
  ),
  facilityIds: named(
    "Facilities whose orders and stock the role `warehouse` gives access to. Default: all facilities. Absent for other roles.",
  ),
  connectionIds: named(
    "Connections that the role `partner` gives access to. Required for that role, and absent for others.",
  ),
};

export const GrantRequestSchema = Type.Object(grantFields, {
  title: "GrantRequest",
  description: "A role, and what it is for.",
});
export type GrantRequest = Static<typeof GrantRequestSchema>;

type NamedField = "merchantIds" | "facilityIds" | "connectionIds";

/** The role that each field belongs to. */
const ROLE_OF: Record<NamedField, Role> = {
  merchantIds: "merchant",
  facilityIds: "warehouse",
  connectionIds: "partner",
};
const FIELDS = Object.keys(ROLE_OF) as NamedField[]; // The keys of the record.

/**
 * Errors in what a request is to give access to. A caller gives no more than it has
 * (docs/design/people.md, "Tokens" and "Roles and grants"). What the caller may not see is reported exactly as what is missing.
 * @param at where in the body the grant is, as a JSON pointer
 */
export async function grantErrors(
  context: Context,
  caller: BackOfficeCaller,
  body: unknown,
  at = "",
): Promise<ValidationError[]> {
  const role = valueAt(body, `${at}/role`);
  if (typeof role === "string" && !hasRole(caller, "operator") && role !== "merchant" && role !== "partner")
    return [{ pointer: `${at}/role`, rule: "grantable", allowed: ["merchant", "partner"] }];
  const errors = await Promise.all(
    FIELDS.map(async (field): Promise<ValidationError[]> => {
      const pointer = `${at}/${field}`;
      const sent = valueAt(body, pointer);
      if (ROLE_OF[field] !== role)
        return sent === undefined ? [] : [{ pointer, rule: "belongs_to_role", role: ROLE_OF[field] }];
      if (sent === undefined)
        return field === "facilityIds" ? [] : [{ pointer, rule: "role_requires", role: String(role) }];
      return Array.isArray(sent) && sent.length <= GRANT_THINGS_MAX
        ? unknownErrors(context, caller, field, sent, pointer)
        : []; // The schema reports it.
    }),
  );
  return errors.flat();
}

/** How each field's ids begin, what they name, and which of them exist and are seen by the caller. */
const LOOK_UPS = {
  merchantIds: {
    prefix: "mer",
    thing: "merchant",
    find: async ({ db }: Context, caller: BackOfficeCaller, ids: readonly string[]) =>
      (await findMerchants(db, ids)).filter((id) => maySee(caller, id)),
  },
  facilityIds: {
    prefix: "fac",
    thing: "facility",
    find: async ({ db }: Context, caller: BackOfficeCaller, ids: readonly string[]) =>
      (await findFacilityIds(db, ids)).filter((id) => maySeeFacility(caller, id)),
  },
  connectionIds: {
    prefix: "con",
    thing: "connection",
    find: async ({ db }: Context, caller: BackOfficeCaller, ids: readonly string[]) =>
      (await findConnectionKeys(db, ids))
        .filter((key) => maySeeConnection(caller, key))
        .map(({ connectionId }) => connectionId),
  },
} as const;

async function unknownErrors(
  context: Context,
  caller: BackOfficeCaller,
  field: NamedField,
  sent: readonly unknown[],
  pointer: string,
): Promise<ValidationError[]> {
  const { prefix, thing, find } = LOOK_UPS[field];
  const ids = sent.map((text) => (typeof text === "string" ? fromTypeId(prefix, text) : null));
  const wellFormed = ids.filter((id) => id !== null);
  const known = new Set(wellFormed.length === 0 ? [] : await find(context, caller, wellFormed));
  return ids.flatMap((id, index) =>
    id !== null && known.has(id) ? [] : [{ pointer: `${pointer}/${index}`, rule: "not_found", kind: thing }],
  );
}

/** The grant that a request names, each thing once. `grantErrors` has checked it. */
export async function grantOfRequest(
  { db }: Context,
  { role, merchantIds, facilityIds, connectionIds }: GrantRequest,
): Promise<Grant> {
  switch (role) {
    case "merchant":
      return { role, merchantIds: idsOf("mer", merchantIds) };
    case "warehouse":
      return { role, facilityIds: facilityIds === undefined ? null : idsOf("fac", facilityIds) };
    case "partner":
      return { role, connections: await findConnectionKeys(db, idsOf("con", connectionIds)) };
    case "operator":
    case "support":
    case "monitoring":
      return { role };
  }
}

const idsOf = (prefix: "mer" | "fac" | "con", texts: readonly string[] = []): string[] => [
  ...new Set(texts.flatMap((text) => fromTypeId(prefix, text) ?? [])),
];
