import { Button, Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import { read } from "../../api/read.ts";
import type { Session } from "../../api/schema.d.ts";
import { useChange } from "../../api/use-change.ts";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { DataTable } from "../../ui/list/data-table.tsx";
import { ProblemMessage } from "../../ui/problem-message.tsx";
import { Section } from "../../ui/section.tsx";
import { Pill } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { browserName } from "./browser-name.ts";

/** Where the person is signed in. */
export function Sessions() {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(read("/api/me/sessions"));
  const others = data?.data.some(({ isCurrent }) => !isCurrent) ?? false;
  return (
    <Section title={t("account.sessions")} actions={others && <EndOthers />}>
      <Text size="sm" c="dimmed">
        {t("account.sessionsAbout")}
      </Text>
      {error !== null && <ProblemMessage error={error} retry={() => void refetch()} />}
      {data !== undefined && (
        <DataTable
          label={t("account.sessions")}
          rows={data.data}
          rowKey={({ id }) => id}
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
            {
              name: t("account.signedIn"),
              cell: ({ signedInAt }) => <Time at={signedInAt} />,
              isMinor: true,
            },
            { name: t("account.seen"), cell: ({ seenAt }) => <Time at={seenAt} as="relative" /> },
            {
              name: t("account.endSession"),
              align: "right",
              cell: (session) => <EndSession session={session} />,
            },
          ]}
        />
      )}
    </Section>
  );
}

function EndSession({ session: { id, isCurrent } }: { session: Session }) {
  const { t } = useTranslation();
  const end = useChange({
    run: () => dataOf(api.DELETE("/api/me/sessions/{id}", { params: { path: { id } } })),
    done: t("account.sessionEnded"),
  });
  if (isCurrent) return "–";
  return (
    <Button size="compact-xs" variant="default" loading={end.isPending} onClick={() => end.mutate()}>
      {t("account.endSession")}
    </Button>
  );
}

function EndOthers() {
  const { t } = useTranslation();
  return (
    <ConfirmAction
      label={t("account.endOthers")}
      effect={t("account.endOthersAbout")}
      done={t("account.othersEnded")}
      run={() => dataOf(api.POST("/api/me/sessions/end-others", {}))}
    />
  );
}
