import { Grid, Stack, Text } from "@mantine/core";
import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useHasRole } from "../../api/me.ts";
import type { Token } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { useActor } from "../../text/words.ts";
import { CopiedText } from "../../ui/copy-button.tsx";
import { Facts } from "../../ui/facts.tsx";
import { TextLink } from "../../ui/link.tsx";
import { Crumbs, Page, Section } from "../../ui/page.tsx";
import { ShownOnce } from "../../ui/shown-once.tsx";
import { Time } from "../../ui/time.tsx";
import { GrantOf } from "../access/grant-list.tsx";
import { tokenQuery } from "./queries.ts";
import { ScopeList, TokenActions, TokenState, useScopesInShort } from "./token-actions.tsx";

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
      <Grid gap="md">
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
