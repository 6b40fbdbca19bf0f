import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { useHasRole, useMe } from "../../api/me.ts";
import { paths } from "../../paths.ts";
import { Filters, SearchFilter, SelectFilter } from "../../ui/list/filters.tsx";
import { ListPage } from "../../ui/list/list-page.tsx";
import { Pill, StatusBadge } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { RolesInShort } from "../access/grant-list.tsx";
import { useGivableRoles } from "../access/roles.ts";
import { InvitePerson } from "./invite-person.tsx";
import { peopleQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/people");
const STATES = ["invited", "active", "disabled"] as const;

/** The people who sign in. A merchant's person sees those of its merchants. */
export function PeoplePage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const me = useMe();
  const mayInvite = useHasRole("operator", "merchant");
  const isFiltered = Object.keys(search).length > 0;
  return (
    <ListPage
      title={t("people.title")}
      about={t("people.about")}
      query={peopleQuery(search)}
      actions={mayInvite && <InvitePerson />}
      filters={<PeopleFilters />}
      rowKey={({ id }) => id}
      rowTo={({ id }) => paths.person(id)}
      empty={t(isFiltered ? "people.emptyFiltered" : "people.empty")}
      columns={[
        {
          name: t("people.name"),
          cell: ({ id, name }) => (
            <>
              {name} {id === me.personId && <Pill>{t("people.you")}</Pill>}
            </>
          ),
        },
        { name: t("people.email"), cell: ({ email }) => email },
        { name: t("access.roles"), cell: ({ grants }) => <RolesInShort grants={grants} /> },
        { name: t("people.state"), cell: ({ state }) => <StatusBadge of="person" status={state} /> },
        {
          name: t("people.secondFactor"),
          cell: ({ hasSecondFactor }) => t(hasSecondFactor ? "people.on" : "people.off"),
          isMinor: true,
        },
        {
          name: t("people.lastSignedIn"),
          cell: ({ lastSignedInAt }) =>
            lastSignedInAt === null ? t("people.never") : <Time at={lastSignedInAt} as="relative" />,
          align: "right",
        },
      ]}
    />
  );
}

function PeopleFilters() {
  const { t } = useTranslation();
  const { q, role, state } = route.useSearch();
  const roles = useGivableRoles();
  return (
    <Filters>
      <SearchFilter label={t("people.search")} value={q} />
      <SelectFilter
        label={t("people.role")}
        name="role"
        value={role}
        options={roles.map((value) => ({ value, label: t(`access.names.${value}`) }))}
      />
      <SelectFilter
        label={t("people.state")}
        name="state"
        value={state}
        options={STATES.map((value) => ({ value, label: t(`status.person.${value}`) }))}
      />
    </Filters>
  );
}
