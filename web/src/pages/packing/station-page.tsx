import { Button, Grid, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useEffectEvent } from "react";
import { useTranslation } from "react-i18next";
import { ApiProblem } from "../../api/problem.ts";
import type { ScannedOrder } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { countryName, formatNumber, formatWeight } from "../../text/format.ts";
import { Facts } from "../../ui/facts.tsx";
import { ButtonLink, TextLink } from "../../ui/link.tsx";
import { useSetFilters } from "../../ui/list/filters.tsx";
import { Crumbs, Page, Parts, Section } from "../../ui/page.tsx";
import { useProblemText } from "../../ui/problem-message.tsx";
import { Feedback, type FeedbackTone } from "../../ui/scan/feedback.tsx";
import { ScanField } from "../../ui/scan/scan-field.tsx";
import { Pill } from "../../ui/status-badge.tsx";
import classes from "./open-order.module.css";
import { linesToPack, type OpenPacking } from "./packing.ts";
import { pickListQuery } from "./queries.ts";
import { type Message, type Station, useStation } from "./use-station.ts";

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

type Said = { readonly tone: FeedbackTone; readonly text: string; readonly detail?: string };

const good = (text: string): Said => ({ tone: "good", text });
const warning = (text: string): Said => ({ tone: "warning", text });
const bad = (text: string): Said => ({ tone: "bad", text });

const nameOf = ({ externalOrderId, orderId }: { externalOrderId: string | null; orderId: string }) =>
  externalOrderId ?? orderId;

const requestIdOf = (error: unknown, label: string) =>
  error instanceof ApiProblem && error.requestId !== null ? { detail: `${label} ${error.requestId}` } : {};

/** What is said of a code that has no meaning in its step. */
const REJECTED_CODES = {
  "wrong-item": "station.wrongItem",
  "not-a-weight": "station.notAWeight",
  "code-in-place-of-weight": "station.codeInPlaceOfWeight",
  "not-a-carrier": "station.notACarrier",
  "not-tracking": "station.notTracking",
  "unknown-code": "station.unknownCode",
  "several-orders": "station.severalOrders",
} as const;

/** Why an order that was found cannot be packed. */
function useCannotShip(): (order: ScannedOrder) => Said {
  const { t } = useTranslation();
  return (order) => ({
    tone: "bad",
    text: t("station.cannotShip", { order: nameOf(order) }),
    detail: order.onHold
      ? t("station.isOnHold")
      : linesToPack(order).length === 0
        ? t("station.allShipped")
        : t("station.hasStatus", { status: t(`status.order.${order.status}`) }),
  });
}

/** What has changed of an order that is open. */
function useChanged(): (message: Extract<Message, { outcome: "changed" }>) => Said {
  const { t } = useTranslation();
  return ({ order, parts }) => {
    const named = { order: nameOf(order) };
    const goods = parts.includes("goods") && t("station.goodsChanged", named);
    const address = parts.includes("address") && t("station.addressChanged", named);
    return bad([goods, address, !goods && t("station.again")].filter(Boolean).join(" "));
  };
}

/** What the station says, in the person's language. */
function useMessageText(): (message: Message) => Said {
  const { t } = useTranslation();
  const problemText = useProblemText();
  const cannotShip = useCannotShip();
  const changed = useChanged();
  return (message) => {
    switch (message.outcome) {
      case "opened": {
        const { order } = message;
        const detail = order.pickList && t("station.takenBy", { name: order.pickList.takenBy });
        return {
          tone: "good",
          text: t("station.opened", { order: nameOf(order) }),
          ...(detail && { detail }),
        };
      }
      case "counted": {
        const { name, count, of } = message;
        return good(t("station.counted", { name, count: formatNumber(count), of: formatNumber(of) }));
      }
      case "all-counted":
        return good(t("station.allCounted"));
      case "weighed":
        return good(t("station.weighed"));
      case "carrier-chosen":
        return good(t("station.carrierChosen"));
      case "empty":
      case "ship":
        return good("");
      case "light":
        return warning(t("station.light", { expected: formatNumber(message.expectedGrams) }));
      case "wrong-item":
      case "not-a-weight":
      case "code-in-place-of-weight":
      case "not-a-carrier":
      case "not-tracking":
      case "unknown-code":
      case "several-orders":
        return bad(t(REJECTED_CODES[message.outcome], { code: message.code }));
      case "too-many":
        return bad(t("station.tooMany", { name: message.name, of: formatNumber(message.of) }));
      case "order-is-open":
        return bad(t("station.orderIsOpen"));
      case "cannot-ship":
        return cannotShip(message.order);
      case "changed":
        return changed(message);
      case "shipped":
        return good(t("station.shipped", { order: nameOf(message.order) }));
      case "put-aside":
        return warning(t("station.isAside"));
      case "failed":
        return {
          tone: "bad",
          text: `${problemText(message.error)} ${t("station.again")}`,
          ...requestIdOf(message.error, t("problem.requestId")),
        };
      default:
        return message satisfies never;
    }
  };
}

type Props = { readonly packing: OpenPacking; readonly station: Station };

/** The order that lies on the table, and how much of it is in the box. */
function OpenOrder({ packing, station }: Props) {
  const { t } = useTranslation();
  const { order, weightGrams, carrier, step } = packing;
  const to = order.shippingAddress;
  return (
    <Section
      title={order.externalOrderId ?? order.orderId}
      actions={
        <Group gap="xs">
          <TextLink to={paths.slips(order.orderId)} size="sm">
            {t("station.printSlips")}
          </TextLink>
          <Button size="compact-sm" variant="default" onClick={station.putAside}>
            {t("station.putAside")}
          </Button>
        </Group>
      }
    >
      <Stack gap="md">
        <ul className={classes["lines"]}>
          {linesToPack(order).map((line) => (
            <PackedLine key={line.id} line={line} packing={packing} station={station} />
          ))}
        </ul>
        <Facts
          of={[
            [
              t("work.to"),
              <Parts
                key="to"
                of={[
                  to.name,
                  to.company,
                  to.address1,
                  to.address2,
                  to.zip,
                  to.city,
                  to.stateCode,
                  countryName(to.countryCode),
                ]}
                between=", "
              />,
            ],
            [t("orders.merchant"), order.merchantName],
            ...(order.note === null ? [] : [[t("order.note"), order.note] as const]),
            [
              t("station.expectedWeight"),
              order.expectedWeightGrams === null ? null : formatWeight(order.expectedWeightGrams),
            ],
            [t("station.weight"), weightGrams === null ? null : formatWeight(weightGrams)],
            ...(step === "tracking" ? [[t("order.carrier"), carrier] as const] : []),
          ]}
        />
      </Stack>
    </Section>
  );
}

function PackedLine({ line, packing, station }: Props & { line: OpenPacking["order"]["lines"][number] }) {
  const { t } = useTranslation();
  const count = packing.counts[line.id] ?? 0;
  const isDone = count === line.quantity;
  return (
    <li className={classes["line"]} data-done={isDone}>
      <div>
        <Text fw={600}>{line.name}</Text>
        <Text size="sm" c="dimmed" ff="monospace">
          {[line.sku, line.barcode].filter(Boolean).join(" · ")}
        </Text>
      </div>
      <Group gap="xs" wrap="nowrap">
        <Text fz={28} fw={700} lh={1} style={{ fontVariantNumeric: "tabular-nums", whiteSpace: "nowrap" }}>
          {formatNumber(count)} / {formatNumber(line.quantity)}
        </Text>
        {isDone ? (
          <Pill tone="success">{t("station.complete")}</Pill>
        ) : (
          <Button
            size="compact-sm"
            variant="default"
            aria-label={t("station.countOne", { product: line.name })}
            onClick={() => station.count(line.id, 1)}
          >
            +1
          </Button>
        )}
      </Group>
    </li>
  );
}
