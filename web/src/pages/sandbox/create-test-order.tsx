import { Button, Group, SimpleGrid, Stack, Text, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import type { Connection, TestOrder, TestOrderRequest } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { filled, useApiForm } from "../../ui/form/use-api-form.ts";
import { useGo } from "../../ui/link.tsx";
import { ProblemMessage } from "../../ui/problem-message.tsx";
import { Section } from "../../ui/section.tsx";
import { CodeActions } from "./code/code-actions.tsx";
import { creationOf } from "./code/partner-request.ts";
import { type Line, LineFields, newLine } from "./line-fields.tsx";

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

/** An address that every connection accepts, unless its review policy names countries. */
const EXAMPLE = {
  firstName: "Ada",
  lastName: "Lovelace",
  address1: "12 St James Square",
  zip: "SW1Y 4JH",
  city: "London",
  stateCode: "",
  countryCode: "GB",
};

/** Makes a test order, as a request of the partner's program would. */
export function CreateTestOrder({ connection }: { connection: Connection }) {
  const { t } = useTranslation();
  const go = useGo();
  const { form, submit, problem, isPending } = useApiForm<Values, TestOrder>({
    initialValues: {
      lines: [newLine()],
      shippingAddress: EXAMPLE,
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
