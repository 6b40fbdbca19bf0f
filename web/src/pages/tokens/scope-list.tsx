import { useTranslation } from "react-i18next";
import type { Role } from "../../api/me.ts";
import type { Scope, Token } from "../../api/schema.d.ts";
import { DataTable } from "../../ui/list/data-table.tsx";
import { bySubject, isReading, scopesInShort, scopesOfRole } from "./scopes.ts";

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
