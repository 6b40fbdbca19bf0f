import { Grid, Stack } from "@mantine/core";
import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { useHasRole, useMe } from "../../api/me.ts";
import type { Person } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { CopiedText } from "../../ui/copied-text.tsx";
import { Facts } from "../../ui/facts.tsx";
import { ButtonLink } from "../../ui/link.tsx";
import { Crumbs, Page } from "../../ui/page.tsx";
import { Section } from "../../ui/section.tsx";
import { Pill, StatusBadge } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { GrantList } from "../access/grant-list.tsx";
import { useActor } from "../orders/actor.ts";
import { ChangeGrants } from "./change-grants.tsx";
import { PersonActions } from "./person-actions.tsx";
import { PersonSessions } from "./person-sessions.tsx";
import { personQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/people/$personId");

/** One person: what it may do, where it is signed in. */
export function PersonPage() {
  const { t } = useTranslation();
  const { personId } = route.useParams();
  const { data: person } = useSuspenseQuery(personQuery(personId));
  const mayChange = useHasRole("operator", "merchant");
  const readsLog = useHasRole("operator", "support");
  const isOwn = useMe().personId === person.id;
  return (
    <Page
      title={person.name}
      crumbs={<Crumbs of={[[t("people.title"), paths.people()]]} />}
      beside={
        <>
          <StatusBadge of="person" status={person.state} />
          {isOwn && <Pill>{t("people.you")}</Pill>}
        </>
      }
      actions={
        <>
          {readsLog && (
            <ButtonLink to={paths.auditLog({ actor: person.id })} size="xs" variant="default">
              {t("people.log")}
            </ButtonLink>
          )}
          {mayChange && <PersonActions person={person} />}
        </>
      }
    >
      <Grid gap="md">
        <Grid.Col span={{ base: 12, md: 8 }}>
          <Stack gap="md">
            <Section title={t("people.access")} actions={mayChange && <ChangeGrants person={person} />}>
              <GrantList grants={person.grants} />
            </Section>
            <PersonSessions person={person} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4 }}>
          <Section title={t("people.details")}>
            <PersonFacts person={person} />
          </Section>
        </Grid.Col>
      </Grid>
    </Page>
  );
}

function PersonFacts({ person }: { person: Person }) {
  const { t } = useTranslation();
  const actorText = useActor();
  const { id, email, hasSecondFactor, createdBy, createdAt, acceptedAt, lastSignedInAt, disabledAt } = person;
  return (
    <Facts
      of={[
        [t("people.id"), <CopiedText key="id" value={id} of={t("people.id")} />],
        [t("people.email"), email],
        [t("people.secondFactor"), t(hasSecondFactor ? "people.on" : "people.off")],
        [t("people.invitedBy"), actorText(createdBy)],
        [t("people.invitedAt"), <Time key="invited" at={createdAt} />],
        [t("people.acceptedAt"), <Time key="accepted" at={acceptedAt} />],
        [t("people.lastSignedIn"), <Time key="last" at={lastSignedInAt} />],
        ...(disabledAt === null
          ? []
          : [[t("people.disabledAt"), <Time key="disabled" at={disabledAt} />] as const]),
      ]}
    />
  );
}
