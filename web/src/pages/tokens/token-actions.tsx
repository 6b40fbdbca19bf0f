import { Group } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import type { Role } from "../../api/me.ts";
import type { Scope, Token } from "../../api/schema.d.ts";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { RotateAction } from "../../ui/form/rotate-action.tsx";
import { DataTable } from "../../ui/list/data-table.tsx";
import { Pill } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { bySubject, isReading, scopesInShort, scopesOfRole } from "./scopes.ts";

type Props = {
  readonly of: Token;
  /** Shows the text of a new token. The row of the old one may leave the list. */
  readonly onToken: (text: string) => void;
};

/** The actions on a token that is still valid. A token is replaced once. */
export function TokenActions({ of, onToken }: Props) {
  const { revokedAt, expiresAt, replacedBy } = of;
  if (revokedAt !== null || (expiresAt !== null && new Date(expiresAt) <= new Date())) return null;
  return (
    <Group gap={6} justify="flex-end">
      {replacedBy === null && <RotateToken of={of} onToken={onToken} />}
      <RevokeToken of={of} />
    </Group>
  );
}

function RotateToken({ of: { id, name }, onToken }: Props) {
  const { t } = useTranslation();
  return (
    <RotateAction
      label={t("tokens.rotate")}
      effect={t("tokens.rotateEffect", { name })}
      done={t("tokens.rotatedDone")}
      overlap={{ label: t("tokens.overlapHours"), help: t("tokens.overlapHelp") }}
      run={async (overlapHours) => {
        const rotated = await dataOf(
          api.POST("/api/tokens/{id}/rotate", { params: { path: { id } }, body: { overlapHours } }),
        );
        onToken(rotated.token);
      }}
    />
  );
}

function RevokeToken({ of: { id, name } }: { of: Token }) {
  const { t } = useTranslation();
  return (
    <ConfirmAction
      label={t("tokens.revoke")}
      effect={t("tokens.revokeEffect", { name })}
      done={t("tokens.revokedDone")}
      isDanger
      run={() => dataOf(api.POST("/api/tokens/{id}/revoke", { params: { path: { id } } }))}
    />
  );
}

/** The scopes of a token in a few words, for lists. */
export function useScopesInShort(): (role: Role, scopes: readonly Scope[]) => string {
  const { t } = useTranslation();
  return (role, scopes) =>
    t(`scopes.short.${scopesInShort(role, scopes)}`, {
      count: scopes.length,
      all: scopesOfRole(role).length,
    });
}

/** All scopes of a token, by what they are about. Programs and problems use their names. */
export function ScopeList({ of: { scopes } }: { of: Token }) {
  const { t } = useTranslation();
  return (
    <DataTable
      label={t("scopes.title")}
      rows={[...bySubject(scopes)]}
      rowKey={([subject]) => subject}
      columns={[
        { name: t("scopes.subject"), cell: ([subject]) => t(`scopes.subjects.${subject}`) },
        {
          name: t("scopes.allowed"),
          cell: ([, own]) =>
            own.map((scope) => t(isReading(scope) ? "scopes.read" : "scopes.write")).join(", "),
        },
        { name: t("scopes.names"), cell: ([, own]) => <code>{own.join(" ")}</code> },
      ]}
    />
  );
}

/** Whether a token is valid, and how long. */
export function TokenState({ of: { revokedAt, expiresAt, replacedBy } }: { of: Token }) {
  const { t } = useTranslation();
  if (revokedAt !== null) return <Pill>{t("tokens.revoked")}</Pill>;
  if (expiresAt === null) return <Pill tone="success">{t("tokens.valid")}</Pill>;
  const isOver = new Date(expiresAt) <= new Date();
  const text = isOver ? "tokens.expired" : replacedBy === null ? "tokens.validUntil" : "tokens.replacedUntil";
  return (
    <>
      <Pill tone={isOver ? "neutral" : replacedBy === null ? "success" : "warning"}>{t(text)}</Pill>{" "}
      <Time at={expiresAt} />
    </>
  );
}
