import { Select, Stack, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { IconKey } from "@tabler/icons-react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import type { Role } from "../../api/me.ts";
import { endOf } from "../../text/days.ts";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { needsThings, THINGS_OF, toGrantRequest, useGivableRoles } from "../access/roles.ts";
import { ThingPicker } from "../access/thing-picker.tsx";

type Values = { name: string; role: Role; things: string[]; expires: string };

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
      initialValues={{ name: "", role: roles.at(-1) ?? "partner", things: [], expires: "" }}
      validate={({ name, role, things }) => ({
        ...(name.trim() === "" && { name: t("ui.required") }),
        ...(needsThings(role) && things.length === 0 && { things: t("access.chooseThing") }),
      })}
      fields={(form) => <TokenFields form={form} roles={roles} />}
      run={async ({ name, role, things, expires }) => {
        const created = await dataOf(
          api.POST("/api/tokens", {
            body: {
              name: name.trim(),
              ...toGrantRequest(role, things),
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
  const { role, things } = form.values;
  const kind = THINGS_OF[role];
  const choose = (chosen: string | null) =>
    form.setValues({ role: roles.find((each) => each === chosen) ?? role, things: [] });
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
