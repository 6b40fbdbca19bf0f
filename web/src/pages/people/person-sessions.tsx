import { Group, Skeleton, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import { useHasRole } from "../../api/me.ts";
import type { Person } from "../../api/schema.d.ts";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { DataTable } from "../../ui/list/data-table.tsx";
import { ProblemMessage } from "../../ui/problem-message.tsx";
import { Section } from "../../ui/section.tsx";
import { Pill } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { browserName } from "../account/browser-name.ts";
import { personSessionsQuery } from "./queries.ts";

/** Where a person is signed in. */
export function PersonSessions({ person: { id, name } }: { person: Person }) {
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
