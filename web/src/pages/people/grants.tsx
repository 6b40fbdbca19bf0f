import { Box, Checkbox, Fieldset, Group, Input, MultiSelect, Stack, Text } from "@mantine/core";
import type { FormErrors } from "@mantine/form";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQueries, useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Role } from "../../api/me.ts";
import type { Grant } from "../../api/schema.d.ts";
import { TextLink } from "../../ui/link.tsx";
import { Pill } from "../../ui/status-badge.tsx";
import { type ThingKind, thingPath, thingQuery, thingsQuery } from "../things.ts";
import { type ChosenRoles, chosenRoles, needsThings, THINGS_OF, thingsOf, useGivableRoles } from "./roles.ts";

type Props = {
  readonly value: ChosenRoles;
  readonly onChange: (value: ChosenRoles) => void;
  /** Errors of the form. Those whose names begin with `grants` are shown here. */
  readonly errors: FormErrors;
};

/** The roles of a person, and what each is for. */
export function RolesField({ value, onChange, errors }: Props) {
  const { t } = useTranslation();
  const roles = useGivableRoles();
  const choose = (role: Role, isChosen: boolean) => {
    const { [role]: _removed, ...others } = value;
    onChange(isChosen ? { ...others, [role]: [] } : others);
  };
  const chosen = chosenRoles(value);
  return (
    <Fieldset legend={t("access.roles")}>
      <Stack gap="sm">
        {roles.map((role) => {
          const kind = THINGS_OF[role];
          return (
            <Stack key={role} gap={6}>
              <Checkbox
                label={t(`access.names.${role}`)}
                description={t(`access.about.${role}`)}
                checked={value[role] !== undefined}
                onChange={(event) => choose(role, event.currentTarget.checked)}
              />
              {kind !== null && value[role] !== undefined && (
                <Box pl={32}>
                  <ThingPicker
                    kind={kind}
                    value={value[role] ?? []}
                    onChange={(ids) => onChange({ ...value, [role]: ids })}
                    error={errors[role] ?? errorAt(errors, `grants.${chosen.indexOf(role)}.`)}
                  />
                </Box>
              )}
            </Stack>
          );
        })}
        {errors["grants"] !== undefined && <Input.Error role="alert">{errors["grants"]}</Input.Error>}
      </Stack>
    </Fieldset>
  );
}

/** What the service says about a role: the pointer `/grants/0/merchantIds/1` is the field `grants.0.merchantIds.1`. */
const errorAt = (errors: FormErrors, start: string) =>
  Object.entries(errors).find(([name]) => name.startsWith(start))?.[1];

/** What the page itself can check about roles. */
export function useRoleErrors(): (grants: ChosenRoles) => FormErrors {
  const { t } = useTranslation();
  return (grants) => {
    const chosen = chosenRoles(grants);
    if (chosen.length === 0) return { grants: t("access.chooseRole") };
    const bare = chosen.filter((role) => needsThings(role) && (grants[role] ?? []).length === 0);
    return Object.fromEntries(bare.map((role) => [role, t("access.chooseThing")]));
  };
}

/** Waits for the end of a word, so that each letter is not a request. */
const TYPING_MS = 200;
/** The service's limit for a role. */
const PICKED_MAX = 100;

type ThingPickerProps = {
  readonly kind: ThingKind;
  /** Ids. */
  readonly value: readonly string[];
  readonly onChange: (ids: string[]) => void;
  readonly error?: ReactNode;
};

/** Picks merchants, facilities or connections by a search for their names. */
export function ThingPicker({ kind, value, onChange, error }: ThingPickerProps) {
  const { t } = useTranslation();
  const [typed, setTyped] = useState("");
  const [q] = useDebouncedValue(typed.trim(), TYPING_MS);
  const found = useQuery({ ...thingsQuery(kind, q), placeholderData: keepPreviousData });
  const picked = useQueries({ queries: value.map((id) => thingQuery(kind, id)) });
  const names = new Map((found.data ?? []).map(({ id, name }) => [id, name]));
  const options = [
    ...value.map((id, index) => ({ value: id, label: picked[index]?.data?.name ?? names.get(id) ?? id })),
    ...(found.data ?? [])
      .filter(({ id }) => !value.includes(id))
      .map(({ id, name }) => ({ value: id, label: name })),
  ];
  return (
    <MultiSelect
      label={t(`access.things.${kind}`)}
      description={t(`access.thingsHelp.${kind}`)}
      placeholder={value.length === 0 ? t(`access.thingsSearch.${kind}`) : ""}
      data={options}
      value={[...value]}
      onChange={onChange}
      searchable
      searchValue={typed}
      onSearchChange={setTyped}
      filter={({ options: all }) => all} // The service has searched.
      hidePickedOptions
      maxValues={PICKED_MAX}
      {...(typed !== "" && {
        nothingFoundMessage: t(found.isFetching ? "ui.loading" : "palette.nothing"),
      })}
      error={error}
      comboboxProps={{ withinPortal: false }}
    />
  );
}

/** Things beyond these are shown as a number. */
const SHOWN_MAX = 10;

/** Roles with the names of what each is for. */
export const GrantList = ({ grants }: { grants: readonly Grant[] }) => (
  <Stack gap="xs">
    {grants.map((grant) => (
      <GrantOf key={grant.role} grant={grant} />
    ))}
  </Stack>
);

export function GrantOf({ grant }: { grant: Grant }) {
  const { t } = useTranslation();
  const kind = THINGS_OF[grant.role];
  const ids = thingsOf(grant);
  return (
    <Group gap={8} align="baseline">
      <Pill>{t(`access.names.${grant.role}`)}</Pill>
      {kind !== null && ids.length === 0 && (
        <Text span size="sm">
          {t("access.allFacilities")}
        </Text>
      )}
      {kind !== null && ids.slice(0, SHOWN_MAX).map((id) => <ThingName key={id} kind={kind} id={id} />)}
      {ids.length > SHOWN_MAX && (
        <Text span size="sm" c="dimmed">
          + {ids.length - SHOWN_MAX}
        </Text>
      )}
    </Group>
  );
}

/** The name of a merchant, facility or connection. Its id while that is on the way, or if the person may not read it. */
function ThingName({ kind, id }: { kind: ThingKind; id: string }) {
  const { data } = useQuery(thingQuery(kind, id));
  return (
    <TextLink to={thingPath[kind](id)} size="sm" lh="24px">
      {data?.name ?? id}
    </TextLink>
  );
}

/** Roles in a few words, for lists. */
export function RolesInShort({ grants }: { grants: readonly Grant[] }) {
  const { t } = useTranslation();
  const textOf = (grant: Grant): string => {
    const name = t(`access.names.${grant.role}`);
    const { length } = thingsOf(grant);
    return length === 0 ? name : `${name} (${length})`;
  };
  return grants.map(textOf).join(", ");
}
