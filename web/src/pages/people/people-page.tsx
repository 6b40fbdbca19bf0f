import IconUserPlus from "icon:user-plus";
import { Stack, TextInput } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import { useHasRole, useMe } from "../../api/me.ts";
import { paths } from "../../paths.ts";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { useGo } from "../../ui/link.tsx";
import { Filters, SearchFilter, SelectFilter } from "../../ui/list/filters.tsx";
import { ListPage } from "../../ui/list/list-page.tsx";
import { Pill, StatusBadge } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { RolesField, RolesInShort, useRoleErrors } from "./grants.tsx";
import { peopleQuery } from "./queries.ts";
import { type ChosenRoles, toGrantRequests, useGivableRoles } from "./roles.ts";

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
          isName: true,
        },
        { name: t("people.email"), cell: ({ email }) => email, isName: true, phone: "below" },
        {
          name: t("access.roles"),
          cell: ({ grants }) => <RolesInShort grants={grants} />,
          isName: true,
          drop: 3,
        },
        {
          name: t("people.state"),
          cell: ({ state }) => <StatusBadge of="person" status={state} />,
          phone: "beside",
        },
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
          drop: 2,
          phone: "end",
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

type Values = { name: string; email: string; grants: ChosenRoles };

/** Sends an invitation. The person's page follows. */
function InvitePerson() {
  const { t } = useTranslation();
  const go = useGo();
  const roleErrors = useRoleErrors();
  return (
    <ConfirmAction<Values>
      label={t("people.invite")}
      effect={t("people.inviteEffect")}
      confirm={t("people.sendInvitation")}
      done={t("people.invited")}
      icon={<IconUserPlus size={14} />}
      isPrimary
      initialValues={{ name: "", email: "", grants: {} }}
      validate={({ name, email, grants }) => ({
        ...(name.trim() === "" && { name: t("ui.required") }),
        ...(email.trim() === "" && { email: t("ui.required") }),
        ...roleErrors(grants),
      })}
      fields={(form) => (
        <Stack gap="sm">
          <TextInput
            label={t("people.name")}
            description={t("people.nameHelp")}
            required
            autoComplete="off"
            data-autofocus
            {...form.getInputProps("name")}
          />
          <TextInput
            label={t("people.email")}
            description={t("people.emailHelp")}
            type="email"
            required
            autoComplete="off"
            {...form.getInputProps("email")}
          />
          <RolesField
            value={form.values.grants}
            onChange={(grants) => form.setFieldValue("grants", grants)}
            errors={form.errors}
          />
        </Stack>
      )}
      run={async ({ name, email, grants }) => {
        const person = await dataOf(
          api.POST("/api/people", {
            body: { name: name.trim(), email: email.trim(), grants: toGrantRequests(grants) },
          }),
        );
        await go(paths.person(person.id));
      }}
    />
  );
}
