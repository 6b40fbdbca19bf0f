import { Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { BackOfficeDelivery } from "../../../api/schema.d.ts";
import { paths } from "../../../paths.ts";
import { formatNumber, shortTime } from "../../../text/format.ts";
import { useAttemptError } from "../../../text/words.ts";
import { PlainLink } from "../../../ui/link.tsx";
import { Below, type Column, IdText } from "../../../ui/list/data-table.tsx";
import { StatusBadge } from "../../../ui/status-badge.tsx";
import { useTicks } from "../../../ui/ticks.ts";
import { Time } from "../../../ui/time.tsx";

/** The columns of a log of deliveries. The first one is the event. */
export function useDeliveryColumns(): readonly Column<BackOfficeDelivery>[] {
  const { t } = useTranslation();
  return [
    {
      name: t("deliveries.event"),
      cell: ({ eventType }) => (
        <Text span inherit ff="monospace">
          {eventType}
        </Text>
      ),
    },
    {
      name: t("deliveries.status"),
      cell: ({ status }) => <StatusBadge of="delivery" status={status} />,
      phone: "beside",
    },
    {
      name: t("deliveries.order"),
      // Partners and staff speak of an order by the partner's id.
      cell: ({ orderId, externalOrderId }) =>
        orderId === null ? (
          "–"
        ) : (
          <PlainLink to={paths.order(orderId)}>
            <IdText id={externalOrderId ?? orderId} title={orderId} />
          </PlainLink>
        ),
    },
    {
      name: t("deliveries.lastResponse"),
      cell: ({ attempts }) => <LastResponse of={attempts.at(-1)} />,
      isName: true,
      drop: 2,
    },
    {
      name: t("deliveries.duration"),
      cell: ({ attempts }) => durationOf(attempts.at(-1)),
      align: "right",
      isMinor: true,
    },
    {
      name: t("deliveries.attempts"),
      cell: ({ attemptCount }) => formatNumber(attemptCount),
      align: "right",
      isMinor: true,
    },
    { name: t("deliveries.wait"), cell: ({ wait }) => <ShortWait wait={wait} />, isName: true, drop: 4 },
    {
      name: t("deliveries.created"),
      cell: ({ createdAt }) => <Time at={createdAt} />,
      align: "right",
      phone: "end",
    },
  ];
}

type Attempt = BackOfficeDelivery["attempts"][number];

function LastResponse({ of: attempt }: { of: Attempt | undefined }) {
  const { t } = useTranslation();
  const errorText = useAttemptError();
  if (attempt === undefined) return "–";
  const { error, responseStatus, fault } = attempt;
  return [errorText(error ?? `HTTP ${responseStatus}`), fault === null ? [] : t(`faults.names.${fault}`)]
    .flat()
    .join(" · ");
}

const durationOf = (attempt: Attempt | undefined): string =>
  attempt?.durationMs == null ? "–" : `${formatNumber(attempt.durationMs)}\u00a0ms`;

type Wait = NonNullable<BackOfficeDelivery["wait"]>;

/** The same in a row of a list, which shows the error of a retry elsewhere. */
export function ShortWait({ wait }: { wait: Wait | null }) {
  const { t } = useTranslation();
  const errorText = useAttemptError();
  useTicks();
  if (wait === null) return "–";
  const { reason, until, error } = wait;
  if (until === null || Date.parse(until) <= Date.now()) return <WaitText wait={wait} />;
  const time = shortTime(new Date(until), new Date());
  if (reason === "retry") return t("waits.retryAt", { time });
  if (reason === "fault") return t("waits.fault", { time });
  return (
    <Below text={error === null ? t("waits.failures") : errorText(error)}>
      {t("waits.backoffUntil", { time })}
    </Below>
  );
}

/** What a pending delivery waits for. A retry whose time has come waits for its turn. */
export function WaitText({ wait }: { wait: Wait | null }) {
  const { t } = useTranslation();
  const errorText = useAttemptError();
  useTicks();
  if (wait === null) return "–";
  const { reason, until, error } = wait;
  if (reason === "backoff" || reason === "retry" || reason === "fault") {
    if (until === null || Date.parse(until) <= Date.now()) return t("waits.turn");
    return t(`waits.${reason}`, {
      time: shortTime(new Date(until), new Date()),
      error: error === null ? t("waits.failures") : errorText(error),
    });
  }
  return t(`waits.${reason}`);
}
