import { Grid, Group, Stack, Text } from "@mantine/core";
import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import { type Role, useHasRole } from "../../api/me.ts";
import type { Scope, Token } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { useActor } from "../../text/words.ts";
import { CopiedText } from "../../ui/copy-button.tsx";
import { Facts } from "../../ui/facts.tsx";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { RotateAction } from "../../ui/form/rotate-action.tsx";
import { TextLink } from "../../ui/link.tsx";
import { DataTable } from "../../ui/list/data-table.tsx";
import { Crumbs, Page, Section } from "../../ui/page.tsx";
import { ShownOnce } from "../../ui/shown-once.tsx";
import { Pill } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { GrantOf } from "./grants.tsx";
import { tokenQuery } from "./queries.ts";
import { bySubject, isReading, scopesInShort, scopesOfRole } from "./scopes.ts";

const route = getRouteApi("/signed-in/tokens/$tokenId");

/** One token: what it is for, and what of it it may do. */
export function TokenPage() {
  const { t } = useTranslation();
  const { tokenId } = route.useParams();
  const { data: token } = useSuspenseQuery(tokenQuery(tokenId));
  const [newToken, setNewToken] = useState<string | null>(null);
  const mayChange = useHasRole("operator", "merchant");
  const shortText = useScopesInShort();
  return (
    <Page
      title={token.name}
      crumbs={<Crumbs of={[[t("tokens.title"), paths.tokens()]]} />}
      beside={<TokenState of={token} />}
      actions={mayChange && <TokenActions of={token} onToken={setNewToken} />}
    >
      <ShownOnce
        title={t("tokens.new")}
        about={t("tokens.newAbout")}
        value={newToken}
        onClose={() => setNewToken(null)}
      />
      <Grid>
        <Grid.Col span={{ base: 12, md: 8 }}>
          <Stack gap="md">
            <Section title={t("tokens.access")}>
              <GrantOf grant={token} />
            </Section>
            <Section title={t("scopes.title")}>
              <Text size="sm" c="dimmed">
                {shortText(token.role, token.scopes)}
              </Text>
              <ScopeList of={token} />
            </Section>
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4 }}>
          <Section title={t("tokens.details")}>
            <TokenFacts token={token} />
          </Section>
        </Grid.Col>
      </Grid>
    </Page>
  );
}

function TokenFacts({ token }: { token: Token }) {
  const { t } = useTranslation();
  const actorText = useActor();
  const { id, prefix, createdBy, createdAt, lastUsedAt, revokedAt, replaces, replacedBy } = token;
  return (
    <Facts
      of={[
        [t("tokens.id"), <CopiedText key="id" value={id} of={t("tokens.id")} />],
        [t("tokens.prefix"), <code key="prefix">{prefix}…</code>],
        [t("tokens.createdBy"), actorText(createdBy)],
        [t("tokens.created"), <Time key="created" at={createdAt} />],
        [
          t("tokens.lastUsed"),
          lastUsedAt === null ? t("tokens.neverUsed") : <Time key="used" at={lastUsedAt} as="relative" />,
        ],
        ...(revokedAt === null
          ? []
          : [[t("tokens.revoked"), <Time key="revoked" at={revokedAt} />] as const]),
        ...(replaces === null
          ? []
          : [[t("tokens.replaces"), <OtherToken key="before" id={replaces} />] as const]),
        ...(replacedBy === null
          ? []
          : [[t("tokens.replacedBy"), <OtherToken key="after" id={replacedBy} />] as const]),
      ]}
    />
  );
}

const OtherToken = ({ id }: { id: string }) => <TextLink to={paths.token(id)}>{id}</TextLink>;

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
