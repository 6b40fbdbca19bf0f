import IconCircleCheck from "icon:circle-check";
import { Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { useHasRole } from "../../api/me.ts";
import type { Attention, Check } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { parseSearch } from "../../routing/search.ts";
import { formatNumber } from "../../text/format.ts";
import { useFindingText, useHoldReason, useSystemName } from "../../text/words.ts";
import { ButtonLink } from "../../ui/link.tsx";
import { Section } from "../../ui/page.tsx";
import type { Tone } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { checksQuery } from "../operation/queries.ts";
import classes from "./overview.module.css";

/** A count of a connection ends here, so a larger one may be larger still. */
const COUNTED_MAX = 1_000;

export const atLeast = (count: number): string =>
  count >= COUNTED_MAX ? `${formatNumber(count)}+` : formatNumber(count);

type Task = {
  readonly key: string;
  readonly tone: Tone;
  /** Null: it is no number of things. */
  readonly count: number | null;
  readonly what: string;
  /** Since when the oldest of them waits. */
  readonly since: string | null;
  readonly action: string;
  readonly to: string;
};

type Props = {
  readonly attention: readonly Attention[];
  /** Deliveries of the last day that no attempt will follow. */
  readonly undelivered?: { readonly count: number; readonly merchantId: string | undefined };
};

/** What a person should do, the worst first, each with one action. The service has sorted what it counts by its harm. */
export function ToDo({ attention, undelivered }: Props) {
  const { t } = useTranslation();
  const tasks = [...useSystemTasks(), ...useTasks(attention)];
  if (undelivered !== undefined && undelivered.count > 0) {
    const { count, merchantId } = undelivered;
    const place = tasks.findLastIndex(({ tone }) => tone === "danger") + 1;
    tasks.splice(place, 0, {
      ...{
        key: "undelivered",
        tone: "danger",
        count,
        what: t("overview.kinds.undelivered", { count }),
        since: null,
      },
      ...{ action: t("overview.open"), to: paths.allDeliveries({ status: "failed", merchantId }) },
    });
  }
  return (
    <Section title={t("overview.attention")}>
      {tasks.length === 0 ? (
        <Group gap="xs" wrap="nowrap">
          <IconCircleCheck size={18} color="var(--tone-success-bar)" aria-hidden />
          <Text size="sm">{t("overview.nothing")}</Text>
        </Group>
      ) : (
        <ul className={classes["tasks"]}>
          {tasks.map(({ key, tone, count, what, since, action, to }) => (
            <li key={key} className={classes["task"]} data-tone={tone}>
              <span className={classes["what"]}>
                {count !== null && <b data-figures>{atLeast(count)} </b>}
                {what}
              </span>
              <span className={classes["since"]}>
                {since !== null && count !== 1 && `${t("overview.oldestSince")} `}
                {since !== null && <Time at={since} as="relative" />}
              </span>
              <ButtonLink to={to} size="xs" variant="default">
                {action}
              </ButtonLink>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

const LISTS = {
  orders: paths.orders,
  "webhook-endpoints": paths.endpoints,
  "payment-failures": paths.failures,
} as const satisfies Record<Attention["list"], unknown>;

const TONES: Readonly<Record<Attention["kind"], Tone>> = {
  review: "info",
  hold: "warning",
  not_routed: "danger",
  late: "warning",
  endpoint_paused: "neutral",
  endpoint_failing: "danger",
  payment_declined: "danger",
};

function useTasks(attention: readonly Attention[]): Task[] {
  const { t } = useTranslation();
  const holdReason = useHoldReason();
  const reviews = useHasRole("operator", "warehouse");
  return attention.map(({ kind, reason, count, oldestAt, list, query }): Task => {
    const filters = parseSearch(query);
    const task = {
      key: `${kind} ${reason}`,
      tone: reason === "merchant_request" ? "neutral" : TONES[kind],
      count,
      what: [t(`overview.kinds.${kind}`, { count }), ...(reason === null ? [] : [holdReason(reason)])].join(
        ": ",
      ),
      since: oldestAt,
      action: t("overview.open"),
      to: LISTS[list](filters),
    };
    if (kind === "payment_declined") return { ...task, action: t("overview.settle") };
    if (kind === "review" && reviews) return { ...task, action: t("overview.review"), to: paths.review() };
    return task;
  });
}

/** The page of the system has them all. */
const SYSTEM_TASKS_MAX = 3;

const URGENT = { fail: "danger", warn: "warning" } as const;

/** What keeps the whole service from its work: for its operators, before all else. */
function useSystemTasks(): Task[] {
  const { t } = useTranslation();
  const nameOf = useSystemName();
  const findingText = useFindingText();
  const isOperation = useHasRole("operator", "support");
  const { data } = useQuery({ ...checksQuery(), enabled: isOperation, refetchInterval: 60_000 });
  const checks = data?.checks ?? [];
  // Without a worker everything waits, and saying it once is enough.
  const isStopped = checks.some(({ check, status }) => check === "workers" && status === "fail");
  const isShown = ({ check, status, reason }: Check) =>
    (status === "fail" || (status === "warn" && WORK.includes(check))) &&
    !(isStopped && reason === "work-waits");
  return checks
    .filter(isShown)
    .toSorted((one, other) => Number(other.status === "fail") - Number(one.status === "fail"))
    .slice(0, SYSTEM_TASKS_MAX)
    .map((check) => ({
      key: `${check.check} ${check.message}`,
      tone: URGENT[check.status === "fail" ? "fail" : "warn"],
      count: null,
      what: `${nameOf("checks", check.check)}: ${findingText(check)}`,
      since: null,
      action: t("overview.toSystem"),
      to: paths.system(),
    }));
}

/** Checks whose warnings mean that something is not done. Those of paused endpoints are counted above. */
const WORK: readonly string[] = [
  "workers",
  "processes",
  "jobs",
  "orders to accept",
  "orders to route",
  "declined charges to retry",
  "payments to process",
  "webhooks to send",
  "recoveries",
  "mails to send",
];
