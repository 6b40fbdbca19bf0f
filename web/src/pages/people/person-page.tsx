import { Grid, Group, Skeleton, Stack, Text, TextInput } from "@mantine/core";
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import { useHasRole, useMe } from "../../api/me.ts";
import type { Person } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { browserName, useActor } from "../../text/words.ts";
import { CopiedText } from "../../ui/copy-button.tsx";
import { Facts } from "../../ui/facts.tsx";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { ButtonLink } from "../../ui/link.tsx";
import { DataTable } from "../../ui/list/data-table.tsx";
import { Crumbs, Page, Section } from "../../ui/page.tsx";
import { ProblemMessage } from "../../ui/problem-message.tsx";
import { ShownOnce } from "../../ui/shown-once.tsx";
import { Pill, StatusBadge } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { GrantList, RolesField, useRoleErrors } from "./grants.tsx";
import { personQuery, personSessionsQuery } from "./queries.ts";
import { type ChosenRoles, toChosen, toGrantRequests } from "./roles.ts";

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
      <Grid>
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

/** Replaces what a person may do. */
function ChangeGrants({ person: { id, name, grants, grantsVersion } }: { person: Person }) {
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

type Props = { readonly person: Person };

/** The actions on a person in its state. */
function PersonActions({ person }: Props) {
  const isOperator = useHasRole("operator");
  const { state } = person;
  return (
    <>
      {isOperator && <Rename person={person} />}
      {state === "invited" && <Resend person={person} />}
      {isOperator && person.hasSingleSignOn && <Unlink person={person} />}
      {isOperator && state !== "invited" && <RemoveMethods person={person} />}
      {isOperator && state !== "disabled" && <SignInLink person={person} />}
      {state === "disabled" ? <Enable person={person} /> : <Disable person={person} />}
    </>
  );
}

const pathOf = ({ id }: Person) => ({ params: { path: { id } } });

function Rename({ person }: Props) {
  const { t } = useTranslation();
  const { name, email } = person;
  return (
    <ConfirmAction
      label={t("people.rename")}
      effect={t("people.renameEffect")}
      done={t("people.renamed")}
      initialValues={{ name, email }}
      validate={(values) => ({
        ...(values.name.trim() === "" && { name: t("ui.required") }),
        ...(values.email.trim() === "" && { email: t("ui.required") }),
      })}
      fields={(form) => (
        <Stack gap="sm">
          <TextInput label={t("people.name")} required data-autofocus {...form.getInputProps("name")} />
          <TextInput label={t("people.email")} type="email" required {...form.getInputProps("email")} />
        </Stack>
      )}
      run={(_, { changed }) => dataOf(api.PATCH("/api/people/{id}", { ...pathOf(person), body: changed }))}
    />
  );
}

function Resend({ person }: Props) {
  const { t } = useTranslation();
  return (
    <ConfirmAction
      label={t("people.resend")}
      effect={t("people.resendEffect", { email: person.email })}
      done={t("people.resent")}
      run={() => dataOf(api.POST("/api/people/{id}/resend-invitation", pathOf(person)))}
    />
  );
}

/** For a person whose account at the identity provider was made again. */
function Unlink({ person }: Props) {
  const { t } = useTranslation();
  return (
    <ConfirmAction
      label={t("people.unlink")}
      effect={t("people.unlinkEffect", { name: person.name })}
      done={t("people.unlinked")}
      isDanger
      run={() => dataOf(api.POST("/api/people/{id}/unlink-single-sign-on", pathOf(person)))}
    />
  );
}

/** For a person as whom another human has signed in. */
function RemoveMethods({ person }: Props) {
  const { t } = useTranslation();
  const { name, email } = person;
  return (
    <ConfirmAction
      label={t("people.removeMethods")}
      effect={t("people.removeMethodsEffect", { name, email })}
      done={t("people.methodsRemoved")}
      isDanger
      run={() => dataOf(api.POST("/api/people/{id}/remove-sign-in-methods", pathOf(person)))}
    />
  );
}

/** For a person who can neither sign in nor receive mail. */
function SignInLink({ person }: Props) {
  const { t } = useTranslation();
  const [url, setUrl] = useState<string | null>(null);
  return (
    <>
      <ConfirmAction
        label={t("people.makeLink")}
        effect={t("people.makeLinkEffect", { name: person.name })}
        done={t("people.linkMade")}
        run={async () => {
          const link = await dataOf(api.POST("/api/people/{id}/sign-in-link", pathOf(person)));
          setUrl(link.url);
        }}
      />
      <ShownOnce
        title={t("people.link")}
        about={t("people.linkAbout", { name: person.name })}
        value={url}
        onClose={() => setUrl(null)}
      />
    </>
  );
}

function Disable({ person }: Props) {
  const { t } = useTranslation();
  return (
    <ConfirmAction
      label={t("people.disable")}
      effect={t("people.disableEffect", { name: person.name })}
      done={t("people.disabled")}
      isDanger
      run={() => dataOf(api.POST("/api/people/{id}/disable", pathOf(person)))}
    />
  );
}

function Enable({ person }: Props) {
  const { t } = useTranslation();
  return (
    <ConfirmAction
      label={t("people.enable")}
      effect={t("people.enableEffect", { name: person.name })}
      done={t("people.enabled")}
      run={() => dataOf(api.POST("/api/people/{id}/enable", pathOf(person)))}
    />
  );
}

/** Where a person is signed in. */
function PersonSessions({ person: { id, name } }: { person: Person }) {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(personSessionsQuery(id));
  const mayEnd = useHasRole("operator", "merchant") && (data?.data.length ?? 0) > 0;
  return (
    <Section title={t("account.sessions")} actions={mayEnd && <EndSessions id={id} name={name} />}>
      {error !== null && <ProblemMessage error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && (
        <Skeleton height={60} role="status" aria-label={t("ui.loading")} />
      )}
      {data?.data.length === 0 && (
        <Text size="sm" c="dimmed">
          {t("people.noSessions")}
        </Text>
      )}
      {data !== undefined && data.data.length > 0 && (
        <DataTable
          label={t("account.sessions")}
          rows={data.data}
          rowKey={(session) => session.id}
          columns={[
            {
              name: t("account.browser"),
              cell: ({ userAgent, isCurrent }) => (
                <Group gap={6}>
                  {browserName(userAgent) ?? t("account.unknownBrowser")}
                  {isCurrent && <Pill tone="success">{t("account.current")}</Pill>}
                </Group>
              ),
            },
            { name: t("account.address"), cell: ({ ipAddress }) => ipAddress ?? "–" },
            { name: t("account.signedIn"), cell: ({ signedInAt }) => <Time at={signedInAt} /> },
            {
              name: t("account.seen"),
              cell: ({ seenAt }) => <Time at={seenAt} as="relative" />,
              align: "right",
            },
          ]}
        />
      )}
    </Section>
  );
}

function EndSessions({ id, name }: { id: string; name: string }) {
  const { t } = useTranslation();
  return (
    <ConfirmAction
      label={t("people.endSessions")}
      effect={t("people.endSessionsEffect", { name })}
      done={t("people.sessionsEnded")}
      isDanger
      run={() => dataOf(api.POST("/api/people/{id}/end-sessions", { params: { path: { id } } }))}
    />
  );
}
