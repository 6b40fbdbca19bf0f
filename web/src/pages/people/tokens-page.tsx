import IconKey from "icon:key";
import { Checkbox, Fieldset, Input, Radio, Select, Stack, Text, TextInput } from "@mantine/core";
import type { FormErrors, UseFormReturnType } from "@mantine/form";
import { getRouteApi } from "@tanstack/react-router";
import { type ReactNode, useId, useState } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import { type Role, useHasRole } from "../../api/me.ts";
import type { Scope, Token } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { endOf } from "../../text/format.ts";
import { useActor } from "../../text/words.ts";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { Below } from "../../ui/list/data-table.tsx";
import { Filters, FlagFilter, SelectFilter } from "../../ui/list/filters.tsx";
import { ListPage } from "../../ui/list/list-page.tsx";
import { ShownOnce } from "../../ui/shown-once.tsx";
import { Time } from "../../ui/time.tsx";
import { GrantOf, ThingPicker } from "./grants.tsx";
import { tokensQuery } from "./queries.ts";
import { needsThings, THINGS_OF, toGrantRequest, useGivableRoles } from "./roles.ts";
import {
  bySubject,
  isReading,
  SCOPE_CHOICES,
  type ScopeChoice,
  type ScopeSubject,
  SENSITIVE,
  scopesOfRole,
  subjectOf,
  toNamedScopes,
} from "./scopes.ts";
import { TokenActions, TokenState, useScopesInShort } from "./token-page.tsx";
import classes from "./tokens-page.module.css";

const route = getRouteApi("/signed-in/tokens");

/** The tokens of programs that use the back office. */
export function TokensPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const mayChange = useHasRole("operator", "merchant");
  const actorText = useActor();
  const shortText = useScopesInShort();
  const [newToken, setNewToken] = useState<string | null>(null);
  const isFiltered = Object.keys(search).length > 0;
  return (
    <ListPage
      title={t("tokens.title")}
      about={t("tokens.about")}
      query={tokensQuery(search)}
      actions={mayChange && <CreateToken onToken={setNewToken} />}
      above={
        <ShownOnce
          title={t("tokens.new")}
          about={t("tokens.newAbout")}
          value={newToken}
          onClose={() => setNewToken(null)}
        />
      }
      filters={<TokenFilters />}
      rowKey={({ id }) => id}
      rowTo={({ id }) => paths.token(id)}
      empty={t(isFiltered ? "tokens.emptyFiltered" : "tokens.empty")}
      columns={[
        { name: t("tokens.name"), cell: (token) => <Name of={token} />, isName: true },
        {
          name: t("tokens.access"),
          cell: (token) => <GrantOf grant={token} />,
          isName: true,
          phone: "below",
        },
        {
          name: t("scopes.title"),
          cell: ({ role, scopes }) => shortText(role, scopes),
          isName: true,
          drop: 3,
        },
        { name: t("tokens.state"), cell: (token) => <TokenState of={token} />, phone: "beside" },
        {
          name: t("tokens.lastUsed"),
          cell: ({ lastUsedAt }) =>
            lastUsedAt === null ? t("tokens.neverUsed") : <Time at={lastUsedAt} as="relative" />,
          drop: 2,
          phone: "end",
        },
        {
          name: t("tokens.createdBy"),
          cell: ({ createdBy }) => actorText(createdBy),
          isMinor: true,
          isName: true,
        },
        { name: t("tokens.created"), cell: ({ createdAt }) => <Time at={createdAt} />, isMinor: true },
        ...(mayChange
          ? [
              {
                name: t("tokens.actions"),
                cell: (token: Token) => <TokenActions of={token} onToken={setNewToken} />,
                align: "right" as const,
              },
            ]
          : []),
      ]}
    />
  );
}

function TokenFilters() {
  const { t } = useTranslation();
  const { role, live } = route.useSearch();
  const roles = useGivableRoles();
  return (
    <Filters>
      <SelectFilter
        label={t("people.role")}
        name="role"
        value={role}
        options={roles.map((value) => ({ value, label: t(`access.names.${value}`) }))}
      />
      <FlagFilter
        label={t("tokens.state")}
        name="live"
        value={live}
        yes={t("tokens.valid")}
        no={t("tokens.ended")}
      />
    </Filters>
  );
}

const Name = ({ of: { name, prefix } }: { of: Token }) => <Below text={`${prefix}…`}>{name}</Below>;

type Values = {
  name: string;
  role: Role;
  things: string[];
  choice: ScopeChoice;
  single: Scope[];
  expires: string;
};

/** A new token of a program. It is shown once. */
function CreateToken({ onToken }: { onToken: (text: string) => void }) {
  const { t } = useTranslation();
  const roles = useGivableRoles();
  return (
    <ConfirmAction<Values>
      label={t("tokens.create")}
      effect={t("tokens.createEffect")}
      done={t("tokens.createdDone")}
      icon={<IconKey size={14} />}
      isPrimary
      initialValues={{
        name: "",
        role: roles.at(-1) ?? "partner",
        things: [],
        choice: "usual",
        single: [],
        expires: "",
      }}
      validate={({ name, role, things, choice, single }) => ({
        ...(name.trim() === "" && { name: t("ui.required") }),
        ...(needsThings(role) && things.length === 0 && { things: t("access.chooseThing") }),
        ...(choice === "single" && single.length === 0 && { single: t("scopes.choose") }),
      })}
      fields={(form) => <TokenFields form={form} roles={roles} />}
      run={async ({ name, role, things, choice, single, expires }) => {
        const scopes = toNamedScopes(choice, single);
        const created = await dataOf(
          api.POST("/api/tokens", {
            body: {
              name: name.trim(),
              ...toGrantRequest(role, things),
              ...(scopes !== undefined && { scopes }),
              ...(expires !== "" && { expiresAt: endOf(expires) }),
            },
          }),
        );
        onToken(created.token);
      }}
    />
  );
}

function TokenFields({ form, roles }: { form: UseFormReturnType<Values>; roles: readonly Role[] }) {
  const { t } = useTranslation();
  const { role, things, choice, single } = form.values;
  const kind = THINGS_OF[role];
  const choose = (chosen: string | null) =>
    form.setValues({ role: roles.find((each) => each === chosen) ?? role, things: [], single: [] });
  return (
    <Stack gap="sm">
      <TextInput
        label={t("tokens.name")}
        description={t("tokens.nameHelp")}
        required
        autoComplete="off"
        data-autofocus
        {...form.getInputProps("name")}
      />
      <Select
        label={t("people.role")}
        description={t(`access.about.${role}`)}
        data={roles.map((value) => ({ value, label: t(`access.names.${value}`) }))}
        value={role}
        onChange={choose}
        allowDeselect={false}
        error={form.errors["role"]}
      />
      {kind !== null && (
        <ThingPicker
          kind={kind}
          value={things}
          onChange={(ids) => form.setFieldValue("things", ids)}
          error={form.errors["things"]}
        />
      )}
      <ScopesField
        role={role}
        choice={choice}
        single={single}
        onChoice={(chosen) => form.setFieldValue("choice", chosen)}
        onSingle={(chosen) => form.setFieldValue("single", chosen)}
        error={form.errors["single"] ?? scopesError(form.errors)}
      />
      <TextInput
        type="date"
        label={t("tokens.expires")}
        description={t("tokens.expiresHelp")}
        {...form.getInputProps("expires")}
        error={form.errors["expires"] ?? form.errors["expiresAt"]}
      />
    </Stack>
  );
}

/** What the service says about the scopes, or about one of them. */
const scopesError = (errors: FormErrors) =>
  Object.entries(errors).find(([name]) => name === "scopes" || name.startsWith("scopes."))?.[1];

type Props = {
  readonly role: Role;
  readonly choice: ScopeChoice;
  /** Those that are chosen one by one. */
  readonly single: readonly Scope[];
  readonly onChoice: (choice: ScopeChoice) => void;
  readonly onSingle: (single: Scope[]) => void;
  readonly error?: ReactNode;
};

/** What of its role a token may do: a set of scopes, or single ones by what they are about. */
function ScopesField({ role, choice, single, onChoice, onSingle, error }: Props) {
  const { t } = useTranslation();
  return (
    <Fieldset legend={t("scopes.title")}>
      <Stack gap="sm">
        <Radio.Group
          aria-label={t("scopes.title")}
          value={choice}
          onChange={(value) => onChoice(value as ScopeChoice)} // The radio buttons have these values.
        >
          <Stack gap="xs">
            {SCOPE_CHOICES.map((each) => (
              <Radio
                key={each}
                value={each}
                label={t(`scopes.choices.${each}`)}
                description={t(`scopes.choicesHelp.${each}`)}
              />
            ))}
          </Stack>
        </Radio.Group>
        {choice === "single" && (
          <div className={classes["subjects"]}>
            {[...bySubject(scopesOfRole(role))].map(([subject, scopes]) => (
              <Subject key={subject} {...{ subject, scopes, single, onSingle }} />
            ))}
          </div>
        )}
        {/* It is always there, so that screen readers report what appears in it. */}
        <Text size="sm" role="status" hidden={choice !== "single"}>
          {choice === "single" && <Warning single={single} />}
        </Text>
        {error !== undefined && error !== null && <Input.Error role="alert">{error}</Input.Error>}
      </Stack>
    </Fieldset>
  );
}

type SubjectProps = Pick<Props, "single" | "onSingle"> & {
  readonly subject: ScopeSubject;
  readonly scopes: readonly Scope[];
};

function Subject({ subject, scopes, single, onSingle }: SubjectProps) {
  const { t } = useTranslation();
  const id = useId();
  const name = t(`scopes.subjects.${subject}`);
  const choose = (scope: Scope, isChosen: boolean) =>
    onSingle(isChosen ? [...single, scope] : single.filter((each) => each !== scope));
  return (
    <div className={classes["subject"]}>
      <div>
        <Text size="sm" fw={500}>
          {name}
        </Text>
        <Text size="xs" c="dimmed" id={id}>
          {t(`scopes.about.${subject}`)}
        </Text>
      </div>
      {scopes.map((scope) => {
        const verb = t(isReading(scope) ? "scopes.read" : "scopes.write");
        return (
          <Checkbox
            key={scope}
            label={verb}
            aria-label={`${name}: ${verb}`}
            aria-describedby={id}
            checked={single.includes(scope)}
            onChange={(event) => choose(scope, event.currentTarget.checked)}
          />
        );
      })}
    </div>
  );
}

/** What a leaked token could be used for, as soon as such a scope is chosen. */
function Warning({ single }: Pick<Props, "single">) {
  const { t } = useTranslation();
  const sensitive = SENSITIVE.filter((scope) => single.includes(scope));
  if (sensitive.length === 0) return null;
  const names = sensitive.map((scope) => t(`scopes.subjects.${subjectOf(scope)}`)).join(", ");
  return t("scopes.warning", { names });
}
