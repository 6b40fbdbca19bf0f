import { Stack, TextInput } from "@mantine/core";
import { IconUserPlus } from "@tabler/icons-react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import { paths } from "../../paths.ts";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { useGo } from "../../ui/link.tsx";
import { type ChosenRoles, toGrantRequests } from "../access/roles.ts";
import { RolesField, useRoleErrors } from "../access/roles-field.tsx";

type Values = { name: string; email: string; grants: ChosenRoles };

/** Sends an invitation. The person's page follows. */
export function InvitePerson() {
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
