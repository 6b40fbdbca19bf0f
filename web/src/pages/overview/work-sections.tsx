import { SimpleGrid, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { FacilityWork } from "../../api/schema.d.ts";
import { useLiveQueries } from "../../api/updates/use-live-queries.ts";
import { paths } from "../../paths.ts";
import { formatNumber } from "../../text/format.ts";
import { ButtonLink, TextLink } from "../../ui/link.tsx";
import { ProblemMessage } from "../../ui/problem-message.tsx";
import { Section } from "../../ui/section.tsx";
import { Time } from "../../ui/time.tsx";
import { AttentionSection, atLeast } from "./attention-section.tsx";
import classes from "./overview.module.css";
import { OverviewSkeleton } from "./overview-skeleton.tsx";
import { workOverviewQuery } from "./queries.ts";

/** What waits for the warehouse: at each facility, and before it. */
export function WorkSections({ hasAttention }: { hasAttention: boolean }) {
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
