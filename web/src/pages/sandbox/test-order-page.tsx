import { Code, Group, SegmentedControl, Stack, Text } from "@mantine/core";
import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import { useHasRole } from "../../api/me.ts";
import type { Connection, PartnerOrder, TestOrder } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { useHoldReason } from "../../text/words.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { ButtonLink, useGo } from "../../ui/link.tsx";
import { Crumbs, Page, Parts, Section } from "../../ui/page.tsx";
import { Pill, StatusBadge } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { connectionQuery } from "../connections/queries.ts";
import { CODE_LANGUAGES, type CodeLanguage, LANGUAGES } from "./code-actions.tsx";
import { EventsSection } from "./events-section.tsx";
import { FaultsSection } from "./faults-section.tsx";
import { LifecycleSection } from "./lifecycle-section.tsx";
import { useSteps } from "./memory.ts";
import { cancelOf, creationOf, type PartnerRequest, readingOf } from "./partner-request.ts";
import { testOrderQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/sandbox/$connectionId/$orderId");

/** One test order: its transitions on the picture of the lifecycle, its events, and the requests behind both. */
export function TestOrderPage() {
  const { t } = useTranslation();
  const { connectionId, orderId } = route.useParams();
  const { data: connection } = useSuspenseQuery(connectionQuery(connectionId));
  const { data: testOrder } = useSuspenseQuery(testOrderQuery(connectionId, orderId));
  const mayChange = useHasRole("operator", "merchant", "partner");
  const { order, expiresAt } = testOrder;
  return (
    <Page
      title={order.externalOrderId ?? order.id}
      crumbs={
        <Crumbs
          of={[
            [connection.name, paths.connection(connectionId)],
            [t("sandbox.title"), paths.workbench(connectionId)],
          ]}
        />
      }
      beside={<Badges testOrder={testOrder} />}
      about={
        <>
          {order.externalOrderId !== null && order.id} <CopyButton value={order.id} of={t("order.id")} /> ·{" "}
          {t("sandbox.erased")} <Time at={expiresAt} as="relative" />
        </>
      }
      actions={
        <>
          <ButtonLink to={paths.order(order.id)} size="xs" variant="default">
            {t("sandbox.openOrder")}
          </ButtonLink>
          {mayChange && <EraseAction connectionId={connectionId} orderId={order.id} />}
        </>
      }
    >
      <Stack gap="md">
        <Contents connection={connection} testOrder={testOrder} />
        <LifecycleSection connection={connection} testOrder={testOrder} mayChange={mayChange} />
        <FaultsSection connection={connection} order={order} mayChange={mayChange} />
        <EventsSection connectionId={connectionId} order={order} />
        <StepsSection connection={connection} order={order} />
      </Stack>
    </Page>
  );
}

/** Its number and key are free at once. The workbench opens, because the order is gone. */
function EraseAction({ connectionId, orderId }: { connectionId: string; orderId: string }) {
  const { t } = useTranslation();
  const go = useGo();
  return (
    <ConfirmAction
      label={t("sandbox.erase")}
      effect={t("sandbox.eraseEffect")}
      done={t("sandbox.eraseDone")}
      isDanger
      run={async () => {
        await dataOf(
          api.POST("/api/connections/{id}/test-orders/{orderId}/erase", {
            params: { path: { id: connectionId, orderId } },
          }),
        );
        await go(paths.workbench(connectionId), { replace: true });
      }}
    />
  );
}

function Badges({ testOrder: { order } }: { testOrder: TestOrder }) {
  const { t } = useTranslation();
  const holdReason = useHoldReason();
  return (
    <Group gap={6}>
      <StatusBadge of="order" status={order.status} />
      {order.onHoldReasons.map((reason) => (
        <Pill key={reason} tone="warning">
          {holdReason(reason)}
        </Pill>
      ))}
      <Pill>{t("orders.test")}</Pill>
    </Group>
  );
}

/** What was ordered, in a line. */
function Contents({ testOrder: { order } }: { connection: Connection; testOrder: TestOrder }) {
  const { t } = useTranslation();
  const { name, city, countryCode } = order.shippingAddress;
  const shipped = order.lines.filter(({ shipmentId }) => shipmentId !== null).length;
  return (
    <Text size="sm">
      <Parts of={[name, city, countryCode]} between=", " /> ·{" "}
      {t("sandbox.shippedLines", { shipped, lines: order.lines.length })}
    </Text>
  );
}

type Props = { readonly connection: Connection; readonly order: PartnerOrder };

/** Every step as a request of the partner's own program: the creation, those of this tab, and what else it may send. */
function StepsSection({ connection, order }: Props) {
  const { t } = useTranslation();
  const [language, setLanguage] = useState<CodeLanguage>("curl");
  const [steps] = useSteps(order.id);
  const requests: readonly { key: string; name: string; request: PartnerRequest }[] = [
    { key: "create", name: t("sandbox.create"), request: creationOf(order) },
    ...steps.map((step) => ({
      key: step.at,
      name:
        "fault" in step
          ? t("faults.step", { fault: t(`faults.names.${step.fault}`) })
          : t(`sandbox.transitions.${step.transition}`),
      request: step.request,
    })),
    { key: "read", name: t("sandbox.read"), request: readingOf(order.id) },
    { key: "cancel", name: t("sandbox.cancelAsPartner"), request: cancelOf(order.id) },
  ];
  return (
    <Section
      title={t("sandbox.steps")}
      actions={
        <SegmentedControl
          size="xs"
          aria-label={t("sandbox.language")}
          data={[...CODE_LANGUAGES]}
          value={language}
          onChange={(value) => setLanguage(value as CodeLanguage)} // It is one of the two above.
        />
      }
    >
      <Text size="sm">{t("sandbox.stepsAbout")}</Text>
      <Stack component="ol" gap="sm" m={0} p={0} style={{ listStyle: "none" }}>
        {requests.map(({ key, name, request }, index) => (
          <li key={key}>
            <Step name={`${index + 1}. ${name}`} code={LANGUAGES[language](connection.apiUrl, request)} />
          </li>
        ))}
      </Stack>
    </Section>
  );
}

function Step({ name, code }: { name: string; code: string }) {
  return (
    <details>
      <Text component="summary" size="sm">
        {name}
      </Text>
      <Group gap="xs" align="flex-start" wrap="nowrap" mt={6}>
        <Code
          block
          tabIndex={0}
          aria-label={name}
          style={{ flex: 1, minWidth: 0, maxHeight: 360, overflow: "auto" }}
        >
          {code}
        </Code>
        <CopyButton value={code} of={name} />
      </Group>
    </details>
  );
}
