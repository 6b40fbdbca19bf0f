import { Group, Progress, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../../api/client.ts";
import { rolesOf, useMe } from "../../../api/me.ts";
import { read } from "../../../api/read.ts";
import type { BackOfficeDelivery, Resend } from "../../../api/schema.d.ts";
import type { LiveRule } from "../../../api/update.ts";
import { paths } from "../../../paths.ts";
import { exactTime, formatNumber } from "../../../text/format.ts";
import { ConfirmAction } from "../../../ui/form/confirm-action.tsx";
import { ListPage } from "../../../ui/list/list-page.tsx";
import { Section } from "../../../ui/page.tsx";
import { Pill } from "../../../ui/status-badge.tsx";
import { Time } from "../../../ui/time.tsx";
import { changeableKinds, ownerKindOf, ownerRoute } from "../owner.tsx";

type Props<Row extends BackOfficeDelivery> = Pick<
  Parameters<typeof ListPage<Row>>[0],
  "query" | "filters" | "crumbs" | "tabs" | "about" | "empty" | "columns"
> & {
  /** Whose log it is. Undefined: of all owners that the person sees. */
  readonly ownerId: string | undefined;
  readonly ownerOf: (row: Row) => string;
  readonly actions?: ReactNode;
  /** For those who may send again. */
  readonly changes?: ReactNode;
};

/** The log of deliveries. It follows what changes, and deliveries can be chosen to be sent again. */
export function DeliveryList<Row extends BackOfficeDelivery>(props: Props<Row>) {
  const { ownerId, ownerOf, actions, changes, filters, ...rest } = props;
  const { t } = useTranslation();
  const kinds = changeableKinds(rolesOf(useMe()));
  const mayChange = ownerId === undefined ? kinds.length > 0 : kinds.includes(ownerKindOf(ownerId));
  const [chosen, choose] = useState<ReadonlyMap<string, Row>>(new Map());
  const [resent, setResent] = useState<readonly string[]>([]);
  const shown = ownerId === undefined ? resent : [ownerId];
  return (
    <ListPage<Row>
      {...rest}
      title={t("deliveries.title")}
      actions={
        <>
          {actions}
          {mayChange && changes}
        </>
      }
      above={shown.map((id) => <ResendProgress key={id} ownerId={id} mayChange={mayChange} />)}
      filters={
        <>
          {filters}
          {chosen.size > 0 && (
            <ChosenDeliveries
              chosen={Map.groupBy(chosen.values(), ownerOf)}
              count={chosen.size}
              onResent={(ids) => {
                setResent((before) => [...new Set([...before, ...ids])]);
                choose(new Map());
              }}
            />
          )}
        </>
      }
      rowKey={({ id }) => id}
      rowTo={(row) => paths.delivery(ownerOf(row), row.id)}
      live={liveDeliveries(ownerId)}
      selection={
        mayChange
          ? {
              chosen,
              choose,
              labelOf: ({ eventType, createdAt }) =>
                t("resends.select", { event: eventType, time: exactTime(new Date(createdAt)) }),
              allLabel: t("resends.selectAll"),
            }
          : undefined
      }
    />
  );
}

type ChosenProps = {
  /** By owner: a resend is of one. */
  readonly chosen: ReadonlyMap<string, readonly BackOfficeDelivery[]>;
  readonly count: number;
  readonly onResent: (ownerIds: readonly string[]) => void;
};

function ChosenDeliveries({ chosen, count, onResent }: ChosenProps) {
  const { t } = useTranslation();
  return (
    <Group gap="sm">
      <Text size="sm" role="status">
        {t("resends.chosen", { count })}
      </Text>
      <ConfirmAction
        label={t("resends.resendChosen", { count })}
        confirm={t("resends.resend")}
        effect={t("resends.chosenEffect")}
        done={t("resends.started")}
        isPrimary
        run={async () => {
          for (const [id, deliveries] of chosen)
            await dataOf(
              api.POST(ownerRoute(id, "/resends"), {
                params: { path: { id } },
                body: { deliveryIds: deliveries.map((delivery) => delivery.id) },
              }),
            );
          onResent([...chosen.keys()]);
        }}
      />
    </Group>
  );
}

/** The list reads again when deliveries of its owner change, and when an attempt of one that it shows is due. */
const liveDeliveries = (ownerId: string | undefined): LiveRule<BackOfficeDelivery> => ({
  effectOf: ({ deliveriesOf }) => ({
    isChanged: ownerId === undefined ? deliveriesOf.length > 0 : deliveriesOf.includes(ownerId),
    newKeys: [],
  }),
  isDue: (rows) =>
    rows.some(
      ({ status, nextAttemptAt }) =>
        status === "pending" && (nextAttemptAt === null || Date.parse(nextAttemptAt) <= Date.now()),
    ),
});

const SHOWN_MAX = 5;
/** While a resend runs. */
const PROGRESS_EVERY_MS = 1_500;

/** The newest resends of an owner, read again while one of them runs. */
const resendsQuery = (id: string) => ({
  ...read(ownerRoute(id, "/resends"), { params: { path: { id }, query: { limit: SHOWN_MAX } } }),
  refetchInterval: ({
    state,
  }: {
    state: { data?: { data: readonly { status: string; sendingCount: number }[] } | undefined };
  }) =>
    state.data?.data.some(({ status, sendingCount }) => status === "running" || sendingCount > 0)
      ? PROGRESS_EVERY_MS
      : false,
});

type ResendProgressProps = { readonly ownerId: string; readonly mayChange: boolean };

/** What was requested to be sent again lately, and how far it is. Nothing, if nothing was. */
function ResendProgress({ ownerId, mayChange }: ResendProgressProps) {
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

function ResendRow({ ownerId, resend, mayChange }: ResendProgressProps & { resend: Resend }) {
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
