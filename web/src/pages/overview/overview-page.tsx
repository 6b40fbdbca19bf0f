import IconInfoCircle from "icon:info-circle";
import { Alert, Skeleton, Stack, Text } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { rolesOf, useMe } from "../../api/me.ts";
import type { FacilityWork, Overview } from "../../api/schema.d.ts";
import { useLiveQueries } from "../../api/updates.ts";
import { paths } from "../../paths.ts";
import { formatDuration, formatMoney, formatNumber, formatPercent } from "../../text/format.ts";
import { Figure, Figures } from "../../ui/figures.tsx";
import { ButtonLink, TextLink } from "../../ui/link.tsx";
import { Page, Section } from "../../ui/page.tsx";
import { ProblemMessage } from "../../ui/problem-message.tsx";
import { Time } from "../../ui/time.tsx";
import { FirstSteps } from "./first-steps.tsx";
import { OrdersSection } from "./orders-section.tsx";
import classes from "./overview.module.css";
import { overviewQuery, PERIOD_DEFAULT, partsFor, workOverviewQuery } from "./queries.ts";
import { atLeast, ToDo } from "./to-do.tsx";

const route = getRouteApi("/signed-in/");

/** What waits for the person, and how it goes: for the warehouse by facility, for all others the figures of the last weeks. */
export function OverviewPage() {
  const { t } = useTranslation();
  const { hasFigures, hasWork } = partsFor(rolesOf(useMe()));
  return (
    <Page title={t("overview.title")}>
      {hasWork && <WorkSections hasAttention={!hasFigures} />}
      {hasFigures && <FigureSections />}
    </Page>
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
      {overview.hasOrders ? <FiguresOfDay of={overview} merchantId={merchantId} /> : <FirstSteps />}
      <ToDo attention={overview.attention} undelivered={{ count: overview.deliveries.failed, merchantId }} />
      {overview.hasOrders && <OrdersSection of={overview} days={Number(days)} merchantId={merchantId} />}
    </Stack>
  );
}

type FiguresProps = { readonly of: Overview; readonly merchantId: string | undefined };

/** Today beside yesterday at the same time, and how webhooks go. */
function FiguresOfDay({ of: { day, deliveries, acceptance, shipping, readAt }, merchantId }: FiguresProps) {
  const { t } = useTranslation();
  const yesterday = (value: string) => t("overview.yesterday", { value });
  const number = (value: number) => (day.isComplete ? formatNumber(value) : `${formatNumber(value)}+`);
  const all = deliveries.succeeded + deliveries.failed + deliveries.pending;
  const lateSince = new Date(Date.parse(readAt) - LATE_MS).toISOString();
  const lists = {
    created: paths.orders({ createdSince: day.since, merchantId }),
    shipped: undefined,
    returned: undefined,
  };
  return (
    <Figures label={t("overview.today")}>
      {(["created", "shipped"] as const).map((name) => (
        <Figure
          key={name}
          name={t(`overview.figures.${name}`)}
          about={yesterday(number(day[name].yesterday))}
        >
          <Linked to={lists[name]}>{number(day[name].today)}</Linked>
        </Figure>
      ))}
      {day.late !== null && (
        <Figure
          name={t("overview.figures.late")}
          about={yesterday(atLeast(day.late.yesterday))}
          isBad={day.late.today > 0}
        >
          <Linked to={paths.orders({ ready: true, createdUntil: lateSince, sort: "oldest", merchantId })}>
            {atLeast(day.late.today)}
          </Linked>
        </Figure>
      )}
      {(day.value ?? []).map((value) => (
        <Figure
          key={value.today.currency}
          name={t("overview.figures.value")}
          about={yesterday(formatMoney(value.yesterday))}
        >
          {formatMoney(value.today)}
        </Figure>
      ))}
      <Figure name={t("overview.figures.returned")} about={yesterday(number(day.returned.yesterday))}>
        {number(day.returned.today)}
      </Figure>
      {all > 0 && (
        <Figure
          name={t("overview.figures.deliveries")}
          about={
            <TextLink to={paths.endpoints({ health: "unhealthy", merchantId })} inherit c="inherit">
              {t("overview.pending", { count: deliveries.pending })}
            </TextLink>
          }
        >
          {/* What waits counts: a figure of what has ended would be 100 % while endpoints are down. */}
          {formatPercent(deliveries.succeededAtOnce / all)}
        </Figure>
      )}
      {shipping.medianSeconds !== null && (
        <Figure
          name={t("overview.figures.shipping")}
          about={
            acceptance.medianSeconds !== null &&
            t("overview.accepted", { duration: formatDuration(acceptance.medianSeconds * 1_000) })
          }
        >
          {formatDuration(shipping.medianSeconds * 1_000)}
        </Figure>
      )}
    </Figures>
  );
}

/** As the service counts it. */
const LATE_MS = 2 * 86_400_000;

const Linked = ({ to, children }: { readonly to: string | undefined; readonly children: string }) =>
  to === undefined ? (
    children
  ) : (
    <TextLink to={to} inherit c="inherit" underline="hover">
      {children}
    </TextLink>
  );

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
      {hasAttention && data.attention.length > 0 && <ToDo attention={data.attention} />}
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
        <ButtonLink to={paths.work(filter)} size="xs" variant="default">
          {t("overview.toWorkList")}
        </ButtonLink>
      }
    >
      <Figures>
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
      </Figures>
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
