import { Stack, Text } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useHasRole } from "../../api/me.ts";
import type { Token } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { Filters, FlagFilter, SelectFilter } from "../../ui/list/filters.tsx";
import { ListPage } from "../../ui/list/list-page.tsx";
import { ShownOnce } from "../../ui/shown-once.tsx";
import { Time } from "../../ui/time.tsx";
import { GrantOf } from "../access/grant-list.tsx";
import { useGivableRoles } from "../access/roles.ts";
import { useActor } from "../orders/actor.ts";
import { CreateToken } from "./create-token.tsx";
import { tokensQuery } from "./queries.ts";
import { useScopesInShort } from "./scope-list.tsx";
import { TokenActions } from "./token-actions.tsx";
import { TokenState } from "./token-state.tsx";

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
        { name: t("tokens.name"), cell: (token) => <Name of={token} /> },
        { name: t("tokens.access"), cell: (token) => <GrantOf grant={token} /> },
        { name: t("scopes.title"), cell: ({ role, scopes }) => shortText(role, scopes) },
        { name: t("tokens.state"), cell: (token) => <TokenState of={token} /> },
        {
          name: t("tokens.lastUsed"),
          cell: ({ lastUsedAt }) =>
            lastUsedAt === null ? t("tokens.neverUsed") : <Time at={lastUsedAt} as="relative" />,
        },
        { name: t("tokens.createdBy"), cell: ({ createdBy }) => actorText(createdBy), isMinor: true },
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

const Name = ({ of: { name, prefix } }: { of: Token }) => (
  <Stack gap={0}>
    {name}
    <Text span size="xs" c="dimmed" ff="monospace">
      {prefix}…
    </Text>
  </Stack>
);
