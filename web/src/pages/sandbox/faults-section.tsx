import { Button, Group, NumberInput, Select, SimpleGrid, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import type {
  Connection,
  DeliveryFault,
  DeliveryFaultRequest,
  EventType,
  PartnerOrder,
} from "../../api/schema.d.ts";
import { useLiveQueries } from "../../api/updates.ts";
import { filled, useApiForm } from "../../ui/form/use-api-form.ts";
import { DataTable } from "../../ui/list/data-table.tsx";
import { Section } from "../../ui/page.tsx";
import { ProblemMessage } from "../../ui/problem-message.tsx";
import { Pill } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { EVENT_TYPES } from "../webhooks/filter-values.ts";
import { endpointName } from "../webhooks/owner.tsx";
import { testEndpointsQuery } from "../webhooks/queries.ts";
import { CodeActions } from "./code-actions.tsx";
import { useSteps } from "./memory.ts";
import { faultOf } from "./partner-request.ts";
import { faultsQuery } from "./queries.ts";

type Props = {
  readonly connection: Connection;
  readonly order: PartnerOrder;
  readonly mayChange: boolean;
};

/** What the next deliveries of the order rehearse, and what earlier ones have rehearsed. */
export function FaultsSection({ connection, order, mayChange }: Props) {
  const { t } = useTranslation();
  const query = faultsQuery(connection.id, order.id);
  const { data, error, refetch } = useQuery(query);
  useLiveQueries([query], ({ orders }) => orders.some(({ id }) => id === order.id));
  const faults = data?.data ?? [];
  return (
    <Section title={t("faults.title")}>
      {mayChange && <ArmFault connection={connection} order={order} />}
      {error !== null && <ProblemMessage error={error} retry={() => void refetch()} />}
      {faults.length > 0 && <Faults connectionId={connection.id} faults={faults} />}
    </Section>
  );
}

type FaultName = DeliveryFault["fault"];

type Values = {
  fault: FaultName;
  endpointId: string | null;
  eventType: EventType | null;
  attempts: number | string;
  seconds: number | string;
};

/** The fields that each fault has, with what the service takes if the request names none. */
const FAULTS: Readonly<Record<FaultName, { readonly attempts?: number; readonly seconds?: number }>> = {
  "wrong-signature": {},
  "previous-secret": {},
  "stale-timestamp": {},
  "cut-body": {},
  "unknown-type": {},
  "unknown-field": {},
  "largest-body": {},
  duplicate: {},
  "two-at-once": {},
  dropped: { attempts: 1 },
  delayed: { seconds: 10 },
  reordered: { seconds: 60 },
  outage: { seconds: 30 },
};
const FAULT_NAMES = Object.keys(FAULTS) as FaultName[]; // The record has no other keys.

/** Events that a test order can still have. */
const LATER_TYPES = EVENT_TYPES.connection.filter(
  (type) => type !== "order.created" && type !== "product.published",
);

function ArmFault({ connection, order }: Omit<Props, "mayChange">) {
  const { t } = useTranslation();
  const { data: endpoints = [] } = useQuery(testEndpointsQuery(connection.id));
  const [, addStep] = useSteps(order.id);
  const { form, submit, problem, isPending } = useApiForm<Values>({
    initialValues: { fault: "wrong-signature", endpointId: null, eventType: null, attempts: "", seconds: "" },
    run: async (values) => {
      const body = bodyOf(values);
      await dataOf(
        api.POST("/api/connections/{id}/test-orders/{orderId}/delivery-faults", {
          params: { path: { id: connection.id, orderId: order.id } },
          body,
        }),
      );
      addStep({ fault: body.fault, at: new Date().toISOString(), request: faultOf(order.id, body) });
    },
    done: t("faults.done"),
  });
  const { fault } = form.values;
  const fields = FAULTS[fault];
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <Text size="sm">{t("faults.about")}</Text>
        <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="sm">
          <Select
            label={t("faults.next")}
            description={t(`faults.effects.${fault}`)}
            inputWrapperOrder={["label", "input", "description", "error"]}
            data={FAULT_NAMES.map((value) => ({ value, label: t(`faults.names.${value}`) }))}
            allowDeselect={false}
            {...form.getInputProps("fault")}
          />
          <Select
            label={t("faults.endpoint")}
            placeholder={t("faults.anyEndpoint")}
            data={endpoints.map((endpoint) => ({ value: endpoint.id, label: endpointName(endpoint, t) }))}
            clearable
            {...form.getInputProps("endpointId")}
          />
          <Select
            label={t("faults.eventType")}
            placeholder={t("faults.anyEvent")}
            data={LATER_TYPES}
            clearable
            {...form.getInputProps("eventType")}
          />
          {fields.attempts !== undefined && (
            <NumberInput
              label={t("faults.attempts")}
              placeholder={String(fields.attempts)}
              min={1}
              max={5}
              allowDecimal={false}
              {...form.getInputProps("attempts")}
            />
          )}
          {fields.seconds !== undefined && (
            <NumberInput
              label={t("faults.seconds")}
              placeholder={String(fields.seconds)}
              min={1}
              max={600}
              allowDecimal={false}
              {...form.getInputProps("seconds")}
            />
          )}
        </SimpleGrid>
        {problem !== null && <ProblemMessage error={problem} />}
        <Group justify="space-between">
          <CodeActions
            of={t("faults.fault")}
            apiUrl={connection.apiUrl}
            request={faultOf(order.id, bodyOf(form.values))}
          />
          <Button type="submit" size="sm" loading={isPending}>
            {t("faults.arm")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** Without the fields of other faults, which the person may have filled in before. */
const bodyOf = ({ fault, attempts, seconds, ...rest }: Values): DeliveryFaultRequest => ({
  fault,
  ...(filled(rest) as Pick<DeliveryFaultRequest, "endpointId" | "eventType">), // Without those that are null.
  ...(FAULTS[fault].attempts !== undefined && attempts !== "" && { attempts: Number(attempts) }),
  ...(FAULTS[fault].seconds !== undefined && seconds !== "" && { seconds: Number(seconds) }),
});

function Faults({ connectionId, faults }: { connectionId: string; faults: readonly DeliveryFault[] }) {
  const { t } = useTranslation();
  const { data: endpoints = [] } = useQuery(testEndpointsQuery(connectionId));
  const nameOf = (id: string): string => {
    const endpoint = endpoints.find((each) => each.id === id);
    return endpoint === undefined ? id : endpointName(endpoint, t);
  };
  return (
    <DataTable
      label={t("faults.title")}
      rows={faults.toReversed()}
      rowKey={({ id }) => id}
      columns={[
        {
          name: t("faults.fault"),
          cell: ({ fault, attempts, seconds }) =>
            [
              t(`faults.names.${fault}`),
              ...(attempts === null ? [] : [t("faults.attemptsOf", { count: attempts })]),
              ...(seconds === null ? [] : [t("faults.secondsOf", { count: seconds })]),
            ].join(" · "),
          isName: true,
        },
        {
          name: t("faults.state"),
          cell: ({ eventId }) =>
            eventId === null ? (
              <Pill tone="warning">{t("faults.armed")}</Pill>
            ) : (
              <Pill>{t("faults.applied")}</Pill>
            ),
        },
        { name: t("faults.eventType"), cell: ({ eventType }) => eventType ?? t("faults.any"), isMinor: true },
        {
          name: t("faults.endpoint"),
          cell: ({ endpointId }) => (endpointId === null ? t("faults.anyEndpoint") : nameOf(endpointId)),
          isLong: true,
        },
        { name: t("faults.armedAt"), cell: ({ armedAt }) => <Time at={armedAt} />, align: "right" },
      ]}
    />
  );
}
