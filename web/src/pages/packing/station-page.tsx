import { Button, Grid, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useEffectEvent } from "react";
import { useTranslation } from "react-i18next";
import { paths } from "../../paths.ts";
import { formatNumber } from "../../text/format.ts";
import { ButtonLink, TextLink } from "../../ui/link.tsx";
import { useSetFilters } from "../../ui/list/filters.tsx";
import { Crumbs, Page } from "../../ui/page.tsx";
import { Feedback } from "../../ui/scan/feedback.tsx";
import { ScanField } from "../../ui/scan/scan-field.tsx";
import { Section } from "../../ui/section.tsx";
import { useMessageText } from "./message-text.ts";
import { OpenOrder } from "./open-order.tsx";
import { pickListQuery } from "./queries.ts";
import { type Station, useStation } from "./use-station.ts";

const route = getRouteApi("/signed-in/work/pack");

/** The packing table: everything by scanner, nothing by mouse. */
export function StationPage() {
  const { t } = useTranslation();
  const { pickListId, scan } = route.useSearch();
  const station = useStation();
  useFirstScan(station, scan);
  const { packing, message, number } = station;
  const textOf = useMessageText();
  const said = message === null ? null : textOf(message);
  return (
    <Page
      title={t("station.title")}
      crumbs={
        <Crumbs
          of={[
            [t("work.title"), paths.work()],
            ...(pickListId === undefined
              ? []
              : [[t("station.pickList"), paths.pickList(pickListId)] as const]),
          ]}
        />
      }
    >
      <Steps station={station} />
      <ScanField label={t(`station.scan.${packing.step}`)} onScan={station.scan} />
      {said === null ? (
        <Text c="dimmed">{t("station.start")}</Text>
      ) : (
        <Feedback tone={said.tone} text={said.text} number={number}>
          {message?.outcome === "shipped" && (
            <Group gap="xs" mt={8}>
              <ButtonLink
                size="xs"
                variant="white"
                to={paths.slips(message.order.orderId, { shipmentId: message.shipmentId })}
              >
                {t("station.printSlips")}
              </ButtonLink>
            </Group>
          )}
          {said.detail !== undefined && <Text size="sm">{said.detail}</Text>}
        </Feedback>
      )}
      <Grid gap="md">
        <Grid.Col span={{ base: 12, md: 8 }}>
          {packing.step !== "order" && <OpenOrder packing={packing} station={station} />}
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4 }}>
          {pickListId !== undefined && <WaitingBoxes pickListId={pickListId} station={station} />}
        </Grid.Col>
      </Grid>
    </Page>
  );
}

/** An order that was scanned on another page is opened once, and leaves the address. */
function useFirstScan(station: Station, code: string | undefined): void {
  const setFilters = useSetFilters();
  const begin = useEffectEvent((first: string) => {
    setFilters({ scan: undefined });
    station.scan(first);
  });
  useEffect(() => {
    if (code !== undefined) begin(code);
  }, [code]);
}

const STEPS = ["order", "items", "weight", "carrier", "tracking"] as const;

function Steps({ station: { packing, isBusy } }: { station: Station }) {
  const { t } = useTranslation();
  const present = STEPS.indexOf(packing.step);
  return (
    <Group component="ol" gap="md" p={0} m={0} style={{ listStyle: "none" }} aria-label={t("station.steps")}>
      {STEPS.map((step, index) => (
        <Text
          key={step}
          component="li"
          size="sm"
          fw={index === present ? 700 : 400}
          c={index === present ? undefined : "dimmed"}
          {...(index === present && { "aria-current": "step" as const })}
        >
          {index + 1}. {t(`station.step.${step}`)}
          {index < present && " ✓"}
        </Text>
      ))}
      {isBusy && (
        <Text component="li" size="sm" c="dimmed">
          {t("station.busy")}
        </Text>
      )}
    </Group>
  );
}

/** The orders of the pick list that have not shipped, with a button for those whose paper is lost. */
function WaitingBoxes({ pickListId, station }: { pickListId: string; station: Station }) {
  const { t } = useTranslation();
  const { data } = useQuery(pickListQuery(pickListId));
  const orders = data?.orders ?? [];
  return (
    <Section title={t("station.waiting", { count: orders.length })}>
      {data !== undefined && orders.length === 0 && <Text size="sm">{t("pickList.allShipped")}</Text>}
      <Stack gap={6}>
        {orders.slice(0, 20).map(({ orderId, externalOrderId, lines }) => (
          <Group key={orderId} justify="space-between" wrap="nowrap" gap="xs">
            <TextLink to={paths.order(orderId)} size="sm" style={{ overflowWrap: "anywhere" }}>
              {externalOrderId ?? orderId}
            </TextLink>
            <Group gap="xs" wrap="nowrap">
              <Text size="xs" c="dimmed">
                {formatNumber(lines.reduce((sum, { quantity }) => sum + quantity, 0))}
              </Text>
              <Button
                size="compact-xs"
                variant="default"
                disabled={station.packing.step !== "order"}
                aria-label={t("station.openOf", { order: externalOrderId ?? orderId })}
                onClick={() => station.scan(orderId)}
              >
                {t("station.open")}
              </Button>
            </Group>
          </Group>
        ))}
      </Stack>
    </Section>
  );
}
