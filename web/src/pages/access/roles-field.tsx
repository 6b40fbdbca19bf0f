import { Box, Checkbox, Fieldset, Input, Stack } from "@mantine/core";
import type { FormErrors } from "@mantine/form";
import { useTranslation } from "react-i18next";
import type { Role } from "../../api/me.ts";
import { type ChosenRoles, chosenRoles, needsThings, THINGS_OF, useGivableRoles } from "./roles.ts";
import { ThingPicker } from "./thing-picker.tsx";

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
