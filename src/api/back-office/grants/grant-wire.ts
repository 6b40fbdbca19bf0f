import { type Static, Type } from "typebox";
import { type Grant, ROLES } from "../../../access/grant.ts";
import { toTypeId } from "../../../platform/ids.ts";
import { describedAs, enumeration, nullable } from "../../../platform/wire/schemas.ts";

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

/** What a grant is on the wire, beside other fields. */
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
