import { useQuery } from "@tanstack/react-query";
import type { TFunction } from "i18next";
import { useTranslation } from "react-i18next";
import { type Role, rolesOf, useHasRole, useMe } from "../../api/me.ts";
import { read } from "../../api/read.ts";
import { Below } from "../../ui/list/data-table.tsx";
import { SelectFilter } from "../../ui/list/filters.tsx";

// An owner of endpoints is a connection, a merchant or a facility. Its routes and pages are those of the others
// (docs/design/deliveries.md, "Owners"), and its id says which it is.

export const OWNER_KINDS = ["connection", "merchant", "facility"] as const;
export type OwnerKind = (typeof OWNER_KINDS)[number];

/** What an endpoint is called: its address, or the note of a pull endpoint, which has none. */
export function endpointName(
  { id, url, description }: { id: string; url: string | null; description?: string | null },
  t: TFunction,
): string {
  return url ?? t("endpoints.pullName", { name: description ?? id });
}

export const ownerKindOf = (ownerId: string): OwnerKind =>
  ownerId.startsWith("mer_") ? "merchant" : ownerId.startsWith("fac_") ? "facility" : "connection";

const ROUTES = {
  connection: "/api/connections/{id}",
  merchant: "/api/merchants/{id}",
  facility: "/api/facilities/{id}",
} as const;

/** A route of the owner, as `api` and `read` take it. */
export const ownerRoute = <Rest extends string>(
  ownerId: string,
  rest: Rest,
): `${(typeof ROUTES)[OwnerKind]}${Rest}` => `${ROUTES[ownerKindOf(ownerId)]}${rest}`;

type Owned = {
  readonly connectionId?: string | null;
  readonly merchantId: string | null;
  readonly facilityId?: string | null;
  readonly connectionName?: string | null;
  readonly merchantName?: string | null;
  readonly facilityName?: string | null;
};

/** Whose an endpoint or a delivery is. An endpoint of a connection has the id of its merchant, too. */
export const ownerOf = ({ connectionId, merchantId, facilityId }: Owned): string =>
  connectionId ?? facilityId ?? merchantId ?? "";

const ownerNameOf = ({ connectionName, merchantName, facilityName }: Owned): string =>
  connectionName ?? facilityName ?? merchantName ?? "–";

/** Who may change the endpoints of each kind of owner. The service decides. */
const CHANGED_BY: Record<OwnerKind, readonly Role[]> = {
  connection: ["operator", "merchant", "partner"],
  merchant: ["operator", "merchant"],
  facility: ["operator", "warehouse"],
};

export const useMayChangeEndpoints = (ownerId: string): boolean =>
  useHasRole(...CHANGED_BY[ownerKindOf(ownerId)]);

/** The kinds of owners that a person with these roles can give endpoints. */
export const changeableKinds = (roles: readonly Role[]): OwnerKind[] =>
  OWNER_KINDS.filter((kind) => CHANGED_BY[kind].some((role) => roles.includes(role)));

/** The kinds of owners whose endpoints a person with these roles sees. */
export const seenKinds = (roles: readonly Role[]): OwnerKind[] =>
  roles.some((role) => role === "support" || role === "monitoring")
    ? [...OWNER_KINDS]
    : changeableKinds(roles);

/** The name of an owner, for the way to a page below it. Until it is read: what it is. */
export function useOwnerName(ownerId: string): string {
  const { t } = useTranslation();
  const { data } = useQuery(read(ownerRoute(ownerId, ""), { params: { path: { id: ownerId } } }));
  return data?.name ?? t(`endpoints.owners.${ownerKindOf(ownerId)}`);
}

/** Whose something is; of a connection, with its merchant. */
export function OwnerCell({ of: owned }: { of: Owned }) {
  const { t } = useTranslation();
  const kind = ownerKindOf(ownerOf(owned));
  const below = kind === "connection" ? owned.merchantName : null;
  return <Below text={below ?? t(`endpoints.owners.${kind}`)}>{ownerNameOf(owned)}</Below>;
}

/** Endpoints of one kind of owner. Nothing, for a person who sees those of one kind alone. */
export function OwnerFilter({ value }: { value: string | undefined }) {
  const { t } = useTranslation();
  const kinds = seenKinds(rolesOf(useMe()));
  if (kinds.length < 2) return null;
  return (
    <SelectFilter
      label={t("endpoints.owner")}
      name="owner"
      value={value}
      options={kinds.map((kind) => ({ value: kind, label: t(`endpoints.ofOwners.${kind}`) }))}
    />
  );
}
