import { Group, Progress, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../../api/client.ts";
import type { Resend } from "../../../api/schema.d.ts";
import { formatNumber } from "../../../text/format.ts";
import { ConfirmAction } from "../../../ui/form/confirm-action.tsx";
import { Section } from "../../../ui/section.tsx";
import { Pill } from "../../../ui/status-badge.tsx";
import { Time } from "../../../ui/time.tsx";
import { ownerRoute } from "../owner.ts";
import { resendsQuery } from "./queries.ts";

type Props = { readonly ownerId: string; readonly mayChange: boolean };

/** What was requested to be sent again lately, and how far it is. Nothing, if nothing was. */
export function ResendProgress({ ownerId, mayChange }: Props) {
  const { t } = useTranslation();
  const { data } = useQuery(resendsQuery(ownerId));
  const resends = data?.data.filter(isOfInterest) ?? [];
  if (resends.length === 0) return null;
  return (
    <Section title={t("resends.progress")}>
      {resends.map((resend) => (
        <ResendRow key={resend.id} ownerId={ownerId} resend={resend} mayChange={mayChange} />
      ))}
    </Section>
  );
}

const DAY_MS = 86_400_000;

/** One that runs, or that a person may still ask about. */
const isOfInterest = ({ status, sendingCount, createdAt }: Resend): boolean =>
  status === "running" || sendingCount > 0 || Date.parse(createdAt) > Date.now() - DAY_MS;

function ResendRow({ ownerId, resend, mayChange }: Props & { resend: Resend }) {
  const { t } = useTranslation();
  const { id, status, total, succeededCount, failedCount, skippedCount, sendingCount } = resend;
  const { inOrder, returnedCount } = resend;
  const done = succeededCount + failedCount + returnedCount + skippedCount;
  const isRunning = status === "running";
  return (
    <Stack gap={4}>
      <Group justify="space-between" gap="xs">
        <Group gap="xs">
          <Pill tone={TONES[status]}>{t(`resends.${status}`)}</Pill>
          {inOrder && <Text size="sm">{t("resends.inOrder")}</Text>}
          <Text size="sm">
            {total === null
              ? t("resends.done", { done: formatNumber(done) })
              : t("resends.of", { done: formatNumber(done), total: formatNumber(total) })}
          </Text>
          <Text size="xs" c="dimmed">
            <Time at={resend.createdAt} />
          </Text>
        </Group>
        {isRunning && mayChange && !inOrder && (
          <ConfirmAction
            label={t("resends.cancel")}
            effect={t("resends.cancelEffect")}
            done={t("resends.cancelDone")}
            run={() =>
              dataOf(
                api.POST(ownerRoute(ownerId, "/resends/{resendId}/cancel"), {
                  params: { path: { id: ownerId, resendId: id } },
                }),
              )
            }
          />
        )}
      </Group>
      {(isRunning || sendingCount > 0) && (
        <Progress value={partOf(resend, done)} aria-label={t("resends.progress")} size="sm" animated />
      )}
      <Text size="xs" c="dimmed">
        {[
          ...(inOrder
            ? [t("resends.returned", { count: returnedCount })]
            : [
                t("resends.succeeded", { count: succeededCount }),
                t("resends.failed", { count: failedCount }),
              ]),
          ...resend.skipped.map(
            ({ reason, count }) => `${t("resends.skipped", { count })}: ${t(`resends.reasons.${reason}`)}`,
          ),
          ...(sendingCount > 0 ? [t("resends.sending", { count: sendingCount })] : []),
        ].join(" · ")}
      </Text>
    </Stack>
  );
}

const TONES = { running: "info", finished: "success", canceled: "neutral" } as const;

/** In percent: by number, or by the time up to which the log was read, if there is more than was counted. */
function partOf({ total, since, until, readUntil }: Resend, done: number): number {
  if (total !== null) return total === 0 ? 100 : (100 * done) / total;
  if (since === null || until === null || readUntil === null) return 0;
  const [from, to, read] = [since, until, readUntil].map((time) => Date.parse(time)) as [
    number,
    number,
    number,
  ]; // Three.
  return (100 * (read - from)) / Math.max(1, to - from);
}
