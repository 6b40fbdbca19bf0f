import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import type { Person } from "../../api/schema.d.ts";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { GrantList } from "../access/grant-list.tsx";
import { type ChosenRoles, toChosen, toGrantRequests } from "../access/roles.ts";
import { RolesField, useRoleErrors } from "../access/roles-field.tsx";

/** Replaces what a person may do. */
export function ChangeGrants({ person: { id, name, grants, grantsVersion } }: { person: Person }) {
  const { t } = useTranslation();
  const roleErrors = useRoleErrors();
  return (
    <ConfirmAction<{ grants: ChosenRoles }>
      label={t("people.changeAccess")}
      effect={t("people.changeAccessEffect", { name })}
      done={t("people.accessChanged")}
      initialValues={{ grants: toChosen(grants) }}
      version={grantsVersion}
      present={<GrantList grants={grants} />}
      validate={(values) => roleErrors(values.grants)}
      fields={(form) => (
        <RolesField
          value={form.values.grants}
          onChange={(chosen) => form.setFieldValue("grants", chosen)}
          errors={form.errors}
        />
      )}
      run={(values, { version }) =>
        dataOf(
          api.PUT("/api/people/{id}/grants", {
            params: { path: { id } },
            body: { grants: toGrantRequests(values.grants), expectedVersion: version },
          }),
        )
      }
    />
  );
}
