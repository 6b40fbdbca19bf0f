import { Select, Stack, TextInput } from "@mantine/core";
import type { FormErrors, UseFormReturnType } from "@mantine/form";
import { IconKey } from "@tabler/icons-react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import type { Role } from "../../api/me.ts";
import type { Scope } from "../../api/schema.d.ts";
import { endOf } from "../../text/days.ts";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { needsThings, THINGS_OF, toGrantRequest, useGivableRoles } from "../access/roles.ts";
import { ThingPicker } from "../access/thing-picker.tsx";
import { type ScopeChoice, toNamedScopes } from "./scopes.ts";
import { ScopesField } from "./scopes-field.tsx";

type Values = {
  name: string;
  role: Role;
  things: string[];
  choice: ScopeChoice;
  single: Scope[];
  expires: string;
};

/** A new token of a program. It is shown once. */
export function CreateToken({ onToken }: { onToken: (text: string) => void }) {
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
