import type { Grant, Role } from "../audit/grant.ts";

/** A grant, or the part of one that a token has given. Null: a person has, `OPERATOR_TOKEN` or the command line. */
export type GivenGrant = { readonly grant: Grant; readonly tokenId: string | null };

/**
 * Who gives what of the grants that a person shall have. A caller without a token gives all of them. A token gives what it adds: the rest
 * stays with those who gave it before, and does not end with the token (docs/design/people.md, "What a token makes").
 */
export function givenBy(
  tokenId: string | null,
  wanted: readonly Grant[],
  earlier: readonly GivenGrant[],
): GivenGrant[] {
  if (tokenId === null) return wanted.map((grant) => ({ grant, tokenId }));
  const others = earlier.filter((each) => each.tokenId !== tokenId);
  return wanted.flatMap((grant) => {
    const given: GivenGrant[] = [];
    let added: Grant | null = grant;
    for (const other of others) {
      if (added === null) break;
      const { common, rest } = split(added, other.grant);
      if (common !== null) given.push({ grant: common, tokenId: other.tokenId });
      added = rest;
    }
    return added === null ? given : [...given, { grant: added, tokenId }];
  });
}

type Split = { readonly common: Grant | null; readonly rest: Grant | null };

/** What two grants have in common, and what the first one has beyond that. */
function split(grant: Grant, other: Grant): Split {
  switch (grant.role) {
    case "merchant": {
      if (other.role !== grant.role) return { common: null, rest: grant };
      const { role, merchantIds } = grant;
      const part = (isCommon: boolean): Grant | null =>
        nonEmpty(
          merchantIds,
          (id) => other.merchantIds.includes(id) === isCommon,
          (ids) => ({ role, merchantIds: ids }),
        );
      return { common: part(true), rest: part(false) };
    }
    case "partner": {
      if (other.role !== grant.role) return { common: null, rest: grant };
      const { role, connections } = grant;
      const ids = other.connections.map(({ connectionId }) => connectionId);
      const part = (isCommon: boolean): Grant | null =>
        nonEmpty(
          connections,
          ({ connectionId }) => ids.includes(connectionId) === isCommon,
          (keys) => ({ role, connections: keys }),
        );
      return { common: part(true), rest: part(false) };
    }
    case "warehouse": {
      if (other.role !== grant.role) return { common: null, rest: grant };
      const { role, facilityIds } = grant;
      const others = other.facilityIds;
      if (others === null) return { common: grant, rest: null };
      if (facilityIds === null) return { common: other, rest: grant }; // All of them, also those that open later.
      const part = (isCommon: boolean): Grant | null =>
        nonEmpty(
          facilityIds,
          (id) => others.includes(id) === isCommon,
          (ids) => ({ role, facilityIds: ids }),
        );
      return { common: part(true), rest: part(false) };
    }
    case "operator":
    case "support":
    case "monitoring":
      return other.role === grant.role ? { common: grant, rest: null } : { common: null, rest: grant };
  }
}

function nonEmpty<Thing>(
  things: readonly Thing[],
  isPart: (thing: Thing) => boolean,
  toPart: (things: readonly Thing[]) => Grant,
): Grant | null {
  const part = things.filter(isPart);
  return part.length === 0 ? null : toPart(part);
}

/** A row of person_grants. */
export type GrantRow = {
  role: Role;
  merchant_ids: string[];
  facility_ids: string[] | null;
  connection_ids: string[];
};

/** What all rows of a person give together. */
export const unitedGrants = (rows: readonly GrantRow[]): Grant[] =>
  [...Map.groupBy(rows, ({ role }) => role).values()].map((ofRole) => toGrant(ofRole.reduce(united)));

const united = (one: GrantRow, other: GrantRow): GrantRow => ({
  role: one.role,
  merchant_ids: [...one.merchant_ids, ...other.merchant_ids],
  facility_ids:
    one.facility_ids === null || other.facility_ids === null // Of a warehouse: all facilities.
      ? null
      : [...one.facility_ids, ...other.facility_ids],
  connection_ids: [...one.connection_ids, ...other.connection_ids],
});

export function toGrant({ role, merchant_ids, facility_ids, connection_ids }: GrantRow): Grant {
  switch (role) {
    case "operator":
    case "support":
    case "monitoring":
      return { role };
    case "warehouse":
      return { role, facilityIds: facility_ids };
    case "merchant":
      return { role, merchantIds: merchant_ids };
    case "partner":
      return {
        role,
        connections: connection_ids.map((connectionId, index) => ({
          merchantId: merchant_ids[index] ?? "", // A constraint: there are as many of both.
          connectionId,
        })),
      };
  }
}

export function toGrantRow(grant: Grant): GrantRow {
  const row = { role: grant.role, merchant_ids: [], facility_ids: null, connection_ids: [] };
  switch (grant.role) {
    case "operator":
    case "support":
    case "monitoring":
      return row;
    case "warehouse":
      return { ...row, facility_ids: grant.facilityIds === null ? null : [...grant.facilityIds] };
    case "merchant":
      return { ...row, merchant_ids: [...grant.merchantIds] };
    case "partner":
      return {
        ...row,
        merchant_ids: grant.connections.map(({ merchantId }) => merchantId),
        connection_ids: grant.connections.map(({ connectionId }) => connectionId),
      };
  }
}
