import { Checkbox, Fieldset, Input, Radio, Stack, Text } from "@mantine/core";
import { type ReactNode, useId } from "react";
import { useTranslation } from "react-i18next";
import type { Role } from "../../api/me.ts";
import type { Scope } from "../../api/schema.d.ts";
import {
  bySubject,
  isReading,
  SCOPE_CHOICES,
  type ScopeChoice,
  type ScopeSubject,
  SENSITIVE,
  scopesOfRole,
  subjectOf,
} from "./scopes.ts";
import classes from "./scopes-field.module.css";

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
export function ScopesField({ role, choice, single, onChoice, onSingle, error }: Props) {
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
