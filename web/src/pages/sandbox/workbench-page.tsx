import IconPlus from "icon:plus";
import IconTrash from "icon:trash";
import {
  ActionIcon,
  Button,
  Grid,
  Group,
  NumberInput,
  Select,
  SimpleGrid,
  Skeleton,
  Stack,
  Text,
  TextInput,
} from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import { useHasRole } from "../../api/me.ts";
import { newReference } from "../../api/reference.ts";
import type { Connection, PartnerOrder, TestOrder, TestOrderRequest } from "../../api/schema.d.ts";
import { useLiveQueries } from "../../api/updates.ts";
import { paths } from "../../paths.ts";
import { formatNumber } from "../../text/format.ts";
import { filled, useApiForm } from "../../ui/form/use-api-form.ts";
import { useGo } from "../../ui/link.tsx";
import { DataTable } from "../../ui/list/data-table.tsx";
import { Crumbs, Page, Section } from "../../ui/page.tsx";
import { ProblemMessage } from "../../ui/problem-message.tsx";
import { Pill, StatusBadge } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { connectionQuery } from "../connections/queries.ts";
import { ConnectionTabs } from "../thing-tabs.tsx";
import { CodeActions } from "./code-actions.tsx";
import { creationOf, EXAMPLE_ADDRESS } from "./partner-request.ts";
import { exposedProductsQuery, testOrdersQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/sandbox/$connectionId");

/** The sandbox of a connection: make a test order, or continue with one that exists. */
export function WorkbenchPage() {
  const { t } = useTranslation();
  const { connectionId } = route.useParams();
  const { data: connection } = useSuspenseQuery(connectionQuery(connectionId));
  const mayChange = useHasRole("operator", "merchant", "partner");
  return (
    <Page
      title={t("sandbox.title")}
      about={t("sandbox.about")}
      crumbs={
        <Crumbs
          of={[
            [t("sandbox.title"), paths.sandbox()],
            [connection.name, paths.connection(connectionId)],
          ]}
        />
      }
      tabs={<ConnectionTabs connectionId={connectionId} />}
    >
      <Grid>
        {mayChange && (
          <Grid.Col span={{ base: 12, md: 6 }}>
            <CreateTestOrder connection={connection} />
          </Grid.Col>
        )}
        <Grid.Col span={{ base: 12, md: mayChange ? 6 : 12 }}>
          <TestOrders connectionId={connectionId} />
        </Grid.Col>
      </Grid>
    </Page>
  );
}

function TestOrders({ connectionId }: { connectionId: string }) {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(testOrdersQuery(connectionId));
  useLiveQueries([testOrdersQuery(connectionId)], ({ orders }) =>
    orders.some((order) => order.connectionId === connectionId && order.id.startsWith("test_")),
  );
  return (
    <Section title={t("sandbox.orders")}>
      <Stack gap="xs">
        {error !== null && <ProblemMessage error={error} retry={() => void refetch()} />}
        {data === undefined && error === null && (
          <Skeleton height={80} role="status" aria-label={t("ui.loading")} />
        )}
        {data?.data.length === 0 && (
          <Text size="sm" c="dimmed">
            {t("sandbox.noOrders")}
          </Text>
        )}
        {data !== undefined && data.data.length > 0 && (
          <DataTable
            label={t("sandbox.orders")}
            rows={data.data}
            rowKey={({ id }) => id}
            rowTo={({ id }) => paths.testOrder(connectionId, id)}
            columns={[
              {
                name: t("orders.order"),
                cell: ({ id, externalOrderId }) => (
                  <span style={{ overflowWrap: "anywhere" }}>{externalOrderId ?? id}</span>
                ),
              },
              { name: t("orders.status"), cell: (order) => <Status order={order} /> },
              {
                name: t("order.quantity"),
                cell: ({ lines }) => formatNumber(unitsOf(lines)),
                align: "right",
              },
              { name: t("orders.created"), cell: ({ createdAt }) => <Time at={createdAt} />, align: "right" },
            ]}
          />
        )}
      </Stack>
    </Section>
  );
}

function Status({ order: { status, onHold } }: { order: PartnerOrder }) {
  const { t } = useTranslation();
  return (
    <>
      <StatusBadge of="order" status={status} />
      {onHold && <Pill tone="warning">{t("orders.onHold")}</Pill>}
    </>
  );
}

const unitsOf = (lines: PartnerOrder["lines"]): number =>
  lines.reduce((sum, { quantity }) => sum + quantity, 0);

type Values = {
  lines: Line[];
  shippingAddress: Record<(typeof ADDRESS_FIELDS)[number], string>;
  externalOrderId: string;
  note: string;
};

const ADDRESS_FIELDS = [
  "firstName",
  "lastName",
  "address1",
  "zip",
  "city",
  "stateCode",
  "countryCode",
] as const;

/** Makes a test order, as a request of the partner's program would. */
function CreateTestOrder({ connection }: { connection: Connection }) {
  const { t } = useTranslation();
  const go = useGo();
  const { form, submit, problem, isPending } = useApiForm<Values, TestOrder>({
    initialValues: {
      lines: [newLine()],
      shippingAddress: EXAMPLE_ADDRESS,
      externalOrderId: "",
      note: "",
    },
    validate: ({ lines }) =>
      Object.fromEntries(
        lines.flatMap(({ productId }, index) =>
          productId === "" ? [[`lines.${index}.productId`, t("ui.required")]] : [],
        ),
      ),
    run: (values) =>
      dataOf(
        api.POST("/api/connections/{id}/test-orders", {
          params: { path: { id: connection.id } },
          body: bodyOf(values),
        }),
      ),
    onDone: ({ order: { id } }) => void go(paths.testOrder(connection.id, id)),
  });
  return (
    <Section title={t("sandbox.create")}>
      <form onSubmit={submit} noValidate>
        <Stack gap="sm">
          <Text size="sm">{t("sandbox.createAbout")}</Text>
          <LineFields connection={connection} form={form as UseFormReturnType<{ lines: Line[] }>} />
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
            {ADDRESS_FIELDS.map((name) => (
              <TextInput
                key={name}
                label={t(`address.${name}`)}
                {...form.getInputProps(`shippingAddress.${name}`)}
              />
            ))}
            <TextInput
              label={t("sandbox.externalOrderId")}
              description={t("sandbox.numberHelp")}
              maxLength={200}
              {...form.getInputProps("externalOrderId")}
            />
          </SimpleGrid>
          <TextInput label={t("sandbox.note")} maxLength={1_000} {...form.getInputProps("note")} />
          {problem !== null && <ProblemMessage error={problem} />}
          <Group justify="space-between">
            <CodeActions
              of={t("sandbox.create")}
              apiUrl={connection.apiUrl}
              request={creationOf(bodyOf(form.values))}
            />
            <Button type="submit" loading={isPending}>
              {t("sandbox.create")}
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}

const bodyOf = ({ lines, shippingAddress, ...texts }: Values): TestOrderRequest => ({
  ...filled(texts),
  lines: lines.map(({ productId, quantity }) => ({ productId, quantity: Number(quantity) })),
  // The service names the fields that are missing.
  shippingAddress: filled(shippingAddress) as TestOrderRequest["shippingAddress"],
});

type Line = {
  /** The line remains the same when one before it is removed. */
  readonly key: string;
  productId: string;
  quantity: number | string;
};

const newLine = (): Line => ({ key: newReference("line"), productId: "", quantity: 1 });

type Props = { readonly connection: Connection; readonly form: UseFormReturnType<{ lines: Line[] }> };

/** The service accepts as many. */
const LINES_MAX = 100;

/** The ordered products with their quantities. */
function LineFields({ connection, form }: Props) {
  const { t } = useTranslation();
  const products = useQuery(exposedProductsQuery(connection.id, ""));
  const { lines } = form.values;
  return (
    <Stack gap="xs" role="group" aria-label={t("sandbox.lines")}>
      {products.data?.data.length === 0 && (
        <Text size="sm" c="dimmed">
          {t("sandbox.noProducts", { merchant: connection.merchantName })}
        </Text>
      )}
      {lines.map(({ key }, index) => (
        <Group key={key} gap="xs" align="flex-start" wrap="nowrap">
          <ProductField connectionId={connection.id} form={form} index={index} />
          <NumberInput
            label={t("order.quantity")}
            w={110}
            min={1}
            max={100_000}
            allowDecimal={false}
            {...form.getInputProps(`lines.${index}.quantity`)}
          />
          {lines.length > 1 && (
            <ActionIcon
              mt={27}
              variant="subtle"
              color="gray"
              size="lg"
              aria-label={t("sandbox.removeLine", { number: index + 1 })}
              onClick={() => form.removeListItem("lines", index)}
            >
              <IconTrash size={16} />
            </ActionIcon>
          )}
        </Group>
      ))}
      <Group>
        <Button
          size="xs"
          variant="default"
          leftSection={<IconPlus size={14} />}
          disabled={lines.length >= LINES_MAX}
          onClick={() => form.insertListItem("lines", newLine())}
        >
          {t("sandbox.addLine")}
        </Button>
      </Group>
    </Stack>
  );
}

type ProductProps = {
  readonly connectionId: string;
  readonly form: Props["form"];
  readonly index: number;
};

/** Waits for the end of a word. */
const TYPING_MS = 200;

/** One of the exposed products. There may be many, so the service searches them. */
function ProductField({ connectionId, form, index }: ProductProps) {
  const { t } = useTranslation();
  const [typed, setTyped] = useState("");
  const [chosen, setChosen] = useState<{ value: string; label: string } | null>(null);
  // The text of the chosen product is no search for it.
  const [q] = useDebouncedValue(typed === chosen?.label ? "" : typed.trim(), TYPING_MS);
  const { data } = useQuery({ ...exposedProductsQuery(connectionId, q), placeholderData: keepPreviousData });
  const found = (data?.data ?? []).map(({ id, sku, name }) => ({ value: id, label: `${sku} · ${name}` }));
  const options =
    chosen === null || found.some(({ value }) => value === chosen.value) ? found : [chosen, ...found];
  const { onChange, ...input } = form.getInputProps(`lines.${index}.productId`);
  return (
    <Select
      {...input}
      label={t("order.product")}
      placeholder={t("sandbox.productPlaceholder")}
      style={{ flex: 1, minWidth: 0 }}
      data={options}
      searchable
      onSearchChange={setTyped}
      // The service has searched.
      filter={({ options: all }) => all}
      nothingFoundMessage={t("sandbox.productNotFound")}
      onChange={(value) => {
        setChosen(options.find((option) => option.value === value) ?? null);
        onChange(value ?? "");
      }}
    />
  );
}
