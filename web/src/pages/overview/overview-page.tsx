import { Alert, Grid, Group, SegmentedControl, SimpleGrid, Skeleton, Stack, Text } from "@mantine/core";
import { IconInfoCircle } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { CSSProperties, ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { rolesOf, useMe } from "../../api/me.ts";
import type {
  DeliveryFigures,
  FacilityWork,
  HeldOrders,
  OrderDurations,
  Overview,
} from "../../api/schema.d.ts";
import { useLiveQueries } from "../../api/updates.ts";
import { paths } from "../../paths.ts";
import { parseSearch } from "../../routing/search.ts";
import { formatDuration, formatNumber, formatPercent } from "../../text/format.ts";
import { ButtonLink, TextLink } from "../../ui/link.tsx";
import { useSetFilters } from "../../ui/list/filters.tsx";
import { Page, Section } from "../../ui/page.tsx";
import { ProblemMessage } from "../../ui/problem-message.tsx";
import { Time } from "../../ui/time.tsx";
import { useHoldReason } from "../orders/order-text.ts";
import { AttentionSection, atLeast } from "./attention-section.tsx";
import { OrdersSection } from "./orders-section.tsx";
import classes from "./overview.module.css";
import { overviewQuery, PERIOD_DEFAULT, PERIODS, partsFor, workOverviewQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/");

/** What waits for the person, and how it goes: for the warehouse by facility, for all others the figures of the last weeks. */
export function OverviewPage() {
  const { t } = useTranslation();
  const { hasFigures, hasWork } = partsFor(rolesOf(useMe()));
  return (
    <Page
      title={t("overview.title")}
      about={t(hasFigures ? "overview.about" : "overview.aboutWork")}
      actions={hasFigures && <PeriodChoice />}
    >
      {hasWork && <WorkSections hasAttention={!hasFigures} />}
      {hasFigures && <FigureSections />}
    </Page>
  );
}

function PeriodChoice() {
  const { t } = useTranslation();
  const { days = PERIOD_DEFAULT } = route.useSearch();
  const setFilters = useSetFilters();
  return (
    <SegmentedControl
      size="xs"
      aria-label={t("overview.period")}
      value={days}
      onChange={(value) => setFilters({ days: value === PERIOD_DEFAULT ? undefined : value })}
      data={PERIODS.map((value) => ({ value, label: t("overview.days", { count: Number(value) }) }))}
    />
  );
}

const COLORS = { succeeded: "teal-7", failed: "red-7", pending: "gray-6" } as const;

const OUTCOMES = ["succeeded", "failed", "pending"] as const;

type DeliveriesSectionProps = { readonly of: DeliveryFigures; readonly merchantId: string | undefined };

/** How the deliveries of the last day went: the part that succeeded, and how long they took. */
function DeliveriesSection({ of: figures, merchantId }: DeliveriesSectionProps) {
  const { t } = useTranslation();
  const { succeeded, succeededAtOnce, failed, pending, medianDelayMs, p90DelayMs } = figures;
  const all = succeeded + failed + pending;
  const lists = {
    succeeded: paths.endpoints({ health: "healthy", merchantId }),
    failed: paths.orders({ hasFailedDelivery: true, merchantId }),
    pending: paths.endpoints({ health: "unhealthy", merchantId }),
  };
  return (
    <Section title={t("overview.deliveries")}>
      {all === 0 ? (
        <Text size="sm" c="dimmed">
          {t("overview.noDeliveries")}
        </Text>
      ) : (
        <Stack gap="xs">
          {/* What waits counts: a figure of what has ended would be 100 % while endpoints are down. */}
          <Text span className={classes["figure"] ?? ""}>
            {t("overview.successful", { part: formatPercent(succeededAtOnce / all) })}
          </Text>
          <div className={classes["bar"]} aria-hidden>
            {OUTCOMES.filter((outcome) => figures[outcome] > 0).map((outcome) => (
              <span
                key={outcome}
                style={{ flexGrow: figures[outcome], background: `var(--mantine-color-${COLORS[outcome]})` }}
              />
            ))}
          </div>
          <Group gap="md">
            {OUTCOMES.map((outcome) => (
              <TextLink key={outcome} to={lists[outcome]} size="sm" c="inherit" underline="hover">
                <span
                  className={classes["swatch"]}
                  style={{ background: `var(--mantine-color-${COLORS[outcome]})` }}
                />
                {t(`overview.outcomes.${outcome}`)} {formatNumber(figures[outcome])}
              </TextLink>
            ))}
          </Group>
          {medianDelayMs !== null && p90DelayMs !== null && (
            <Text size="xs" c="dimmed">
              {t("overview.delay", {
                median: formatDuration(medianDelayMs),
                p90: formatDuration(p90DelayMs),
              })}
            </Text>
          )}
        </Stack>
      )}
    </Section>
  );
}

/** The figures are of thousands of orders, so they are read less often than a list. */
const READ_EVERY_MS = 15_000;

/** The figures of the last weeks, each with the list behind it. */
function FigureSections() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const { data, error, refetch, isPlaceholderData } = useQuery({
    ...overviewQuery(search),
    placeholderData: keepPreviousData,
  });
  useLiveQueries([overviewQuery(search)], ({ orders }) => orders.length > 0, READ_EVERY_MS);
  return (
    <>
      {search.merchantId !== undefined && (
        <Alert variant="light" icon={<IconInfoCircle size={18} />} p="xs">
          {t("overview.ofMerchant")} <TextLink to={paths.overview()}>{t("overview.ofAll")}</TextLink>
        </Alert>
      )}
      {error !== null && <ProblemMessage error={error} retry={() => void refetch()} />}
      {data === undefined ? (
        error === null && <OverviewSkeleton />
      ) : (
        <Sections of={data} isStale={isPlaceholderData} />
      )}
    </>
  );
}

function Sections({ of: overview, isStale }: { of: Overview; isStale: boolean }) {
  const { merchantId, days = PERIOD_DEFAULT } = route.useSearch();
  return (
    <Stack gap="md" aria-busy={isStale} style={{ opacity: isStale ? 0.6 : 1 }}>
      <AttentionSection attention={overview.attention} />
      <OrdersSection of={overview} days={Number(days)} merchantId={merchantId} />
      <Grid gap="md">
        <Grid.Col span={{ base: 12, md: 4 }}>
          <HoldsSection holds={overview.holds} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, sm: 6, md: 4 }}>
          <TimesSection of={overview} merchantId={merchantId} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, sm: 6, md: 4 }}>
          <DeliveriesSection of={overview.deliveries} merchantId={merchantId} />
        </Grid.Col>
      </Grid>
    </Stack>
  );
}

/** Orders on hold by reason. Each bar is a link, and its text says what the bar shows. */
function HoldsSection({ holds }: { holds: readonly HeldOrders[] }) {
  const { t } = useTranslation();
  const holdReason = useHoldReason();
  const most = Math.max(1, ...holds.map(({ count }) => count));
  return (
    <Section title={t("overview.holds")}>
      {holds.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t("overview.noHolds")}
        </Text>
      ) : (
        <Stack gap={6} component="ul" className={classes["cards"] ?? ""}>
          {holds.map(({ reason, count, query }) => (
            <li key={reason}>
              <TextLink
                to={paths.orders(parseSearch(query))}
                c="inherit"
                size="sm"
                underline="hover"
                className={classes["hold"] ?? ""}
                style={{ "--part": `${(count / most) * 100}%` } as CSSProperties} // The width of its bar.
              >
                <span>{holdReason(reason)}</span>
                <Text span inherit fw={600}>
                  {atLeast(count)}
                </Text>
              </TextLink>
            </li>
          ))}
        </Stack>
      )}
    </Section>
  );
}

function OverviewSkeleton() {
  const { t } = useTranslation();
  return (
    <Stack gap="md" role="status" aria-label={t("ui.loading")}>
      <Skeleton height={92} />
      <Skeleton height={360} />
      <Skeleton height={180} />
    </Stack>
  );
}

type TimesSectionProps = { readonly of: Overview; readonly merchantId: string | undefined };

/** How long the newest shipped orders took. */
function TimesSection({ of: { acceptance, shipping }, merchantId }: TimesSectionProps) {
  const { t } = useTranslation();
  const shipped = paths.orders({ status: "COMPLETED", merchantId });
  return (
    <Section title={t("overview.times")}>
      {acceptance.count === 0 && shipping.count === 0 ? (
        <Text size="sm" c="dimmed">
          {t("overview.noTimes")}
        </Text>
      ) : (
        <Stack gap="md">
          <Duration name={t("overview.toAcceptance")} of={acceptance} to={shipped} />
          <Duration name={t("overview.toShipping")} of={shipping} to={shipped} />
        </Stack>
      )}
    </Section>
  );
}

function Duration({ name, of, to }: { name: string; of: OrderDurations; to: string }) {
  const { t } = useTranslation();
  const { count, medianSeconds, p90Seconds } = of;
  return (
    <div>
      <Text size="sm" c="dimmed">
        {name}
      </Text>
      <div className={classes["figure"]}>
        {medianSeconds === null ? (
          "–"
        ) : (
          <TextLink to={to} inherit c="inherit" underline="hover">
            {formatDuration(medianSeconds * 1_000)}
          </TextLink>
        )}
      </div>
      {p90Seconds !== null && (
        <Text size="xs" c="dimmed">
          {t("overview.ofOrders", { count, duration: formatDuration(p90Seconds * 1_000) })}
        </Text>
      )}
    </div>
  );
}

/** What waits for the warehouse: at each facility, and before it. */
function WorkSections({ hasAttention }: { hasAttention: boolean }) {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(workOverviewQuery());
  useLiveQueries([workOverviewQuery()], ({ orders }) => orders.length > 0);
  if (data === undefined)
    return error === null ? (
      <OverviewSkeleton />
    ) : (
      <ProblemMessage error={error} retry={() => void refetch()} />
    );
  return (
    <Stack gap="md">
      {error !== null && <ProblemMessage error={error} retry={() => void refetch()} />}
      {hasAttention && data.attention.length > 0 && <AttentionSection attention={data.attention} />}
      {data.facilities.length === 0 && (
        <Section title={t("overview.atFacilities")}>
          <Text size="sm" c="dimmed">
            {t("overview.noFacilities")}
          </Text>
        </Section>
      )}
      {data.facilities.map((facility) => (
        <FacilitySection key={facility.facilityId} of={facility} />
      ))}
    </Stack>
  );
}

function FacilitySection({ of: facility }: { of: FacilityWork }) {
  const { t } = useTranslation();
  const { facilityId, name, toPack, free, oldest, onHold, shipped, returned } = facility;
  const filter = facilityId === null ? {} : { facilityId };
  return (
    <Section
      title={name ?? t("overview.withoutFacility")}
      actions={
        <ButtonLink to={paths.work(filter)} size="xs" variant={toPack > 0 ? "filled" : "default"}>
          {t("overview.toWorkList")}
        </ButtonLink>
      }
    >
      <SimpleGrid component="dl" cols={{ base: 2, sm: 3, lg: 5 }} spacing="md" m={0}>
        <Figure
          name={t("overview.toPack")}
          about={toPack > 0 && t("overview.free", { count: free, number: formatNumber(free) })}
        >
          <TextLink to={paths.work(filter)} inherit c="inherit" underline="hover">
            {atLeast(toPack)}
          </TextLink>
        </Figure>
        <Figure
          name={t("overview.oldest")}
          about={
            oldest !== null && (
              <TextLink to={paths.order(oldest.orderId)} inherit className={classes["id"] ?? ""}>
                {oldest.externalOrderId ?? oldest.orderId}
              </TextLink>
            )
          }
        >
          <Time at={oldest?.createdAt ?? null} as="relative" />
        </Figure>
        <Figure name={t("overview.onHold")}>
          <TextLink to={paths.orders({ ...filter, onHold: true })} inherit c="inherit" underline="hover">
            {atLeast(onHold)}
          </TextLink>
        </Figure>
        {facilityId !== null && (
          <>
            <Moved name={t("overview.shipped")} kind="shipped" count={shipped} facilityId={facilityId} />
            <Moved name={t("overview.returned")} kind="returned" count={returned} facilityId={facilityId} />
          </>
        )}
      </SimpleGrid>
    </Section>
  );
}

type MovedProps = {
  readonly name: string;
  readonly kind: "shipped" | "returned";
  readonly count: number;
  readonly facilityId: string;
};

function Moved({ name, kind, count, facilityId }: MovedProps) {
  const { t } = useTranslation();
  return (
    <Figure name={name} about={t("overview.lastDay")}>
      <TextLink to={paths.movements(facilityId, { kind })} inherit c="inherit" underline="hover">
        {formatNumber(count)}
      </TextLink>
    </Figure>
  );
}

type FigureProps = { readonly name: string; readonly about?: ReactNode; readonly children: ReactNode };

const Figure = ({ name, about, children }: FigureProps) => (
  <div>
    <Text component="dt" size="sm" c="dimmed">
      {name}
    </Text>
    <dd className={classes["figure"]} style={{ margin: 0 }}>
      {children}
      {about !== undefined && about !== false && (
        <Text size="xs" c="dimmed" fw={400} component="div">
          {about}
        </Text>
      )}
    </dd>
  </div>
);
