import { Button, Group, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import { newReference } from "../../api/reference.ts";
import type { Scan as Found, Order, ReturnRequest, ScannedOrder } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { useApiForm } from "../../ui/form/use-api-form.ts";
import { TextLink } from "../../ui/link.tsx";
import { Page, Parts, Section } from "../../ui/page.tsx";
import { ProblemMessage } from "../../ui/problem-message.tsx";
import { Feedback } from "../../ui/scan/feedback.tsx";
import { lookUp, useCodeText } from "../../ui/scan/look-up.ts";
import type { Scan } from "../../ui/scan/read-scan.ts";
import { ScanField } from "../../ui/scan/scan-field.tsx";
import { Time } from "../../ui/time.tsx";
import {
  ReturnFields,
  type ReturnValues,
  returnRequest,
  returnValues,
  useReturnErrors,
} from "./return-fields.tsx";
import { linesOut, unitsBack } from "./returned-goods.ts";

type Shown =
  | { readonly kind: "nothing" | "none-out"; readonly code: string }
  | { readonly kind: "unknown"; readonly scan: Scan; readonly found: Found }
  | { readonly kind: "order"; readonly order: ScannedOrder; readonly code: string }
  | {
      readonly kind: "choice";
      readonly by: "code" | "name";
      readonly code: string;
      readonly orders: readonly ScannedOrder[];
    }
  | { readonly kind: "done"; readonly name: string };

const nameOf = ({ externalOrderId, orderId }: ScannedOrder) => externalOrderId ?? orderId;

const sendReturn = (id: string, body: ReturnRequest): Promise<Order> =>
  dataOf(api.POST("/api/orders/{id}/return", { params: { path: { id } }, body }));

/** A parcel at the door: find its order, say what is in it. */
export function ReturnsPage() {
  const { t } = useTranslation();
  const codeText = useCodeText();
  const [shown, setShown] = useState<Shown>({ kind: "nothing", code: "" });
  const [number, setNumber] = useState(0);
  const show = (next: Shown) => {
    setShown(next);
    setNumber((before) => before + 1);
  };
  // The parcel in the hand is the one that was scanned last, also if the response of an earlier scan comes after its own.
  const latest = useRef<Scan>(null);
  const sending = useRef<Promise<Order> | null>(null);
  const send = async (orderId: string, request: ReturnRequest) => {
    try {
      sending.current = sendReturn(orderId, request);
      return await sending.current;
    } finally {
      sending.current = null;
    }
  };
  // Scanned, not shown: a mutation without the readings that follow a change.
  const find = useMutation<Shown | null, Error, Scan>({
    mutationFn: async (scan) => {
      // The next parcel waits for the return of the one before. If that was refused, the form stays, and says why.
      const isRecorded = await sending.current?.then(
        () => true,
        () => false,
      );
      return isRecorded === false ? null : findOrders(scan);
    },
    onSuccess: (next, scan) => {
      if (next !== null && scan === latest.current) show(next);
    },
  });
  return (
    <Page title={t("returns.title")}>
      <ScanField
        label={t("returns.scan")}
        round={number}
        onScan={(code, scan) => {
          if (code === "") return;
          latest.current = scan;
          find.mutate(scan);
        }}
      />
      {find.error !== null && <ProblemMessage error={find.error} />}
      {shown.kind === "unknown" && (
        <Feedback tone="bad" number={number} text={codeText(shown.scan, shown.found)} />
      )}
      {shown.kind === "none-out" && (
        <Feedback tone="bad" number={number} text={t("returns.noneOut", { order: shown.code })} />
      )}
      {shown.kind === "done" && (
        <Feedback tone="good" number={number} text={t("returns.done", { order: shown.name })} />
      )}
      {shown.kind === "choice" && (
        <OrderChoice
          title={t(shown.by === "name" ? "returns.chooseByName" : "returns.choose")}
          orders={shown.orders}
          onChoice={(order) => show({ kind: "order", order, code: shown.code })}
        />
      )}
      {shown.kind === "order" && (
        <ReturnForm
          key={`${shown.order.orderId} ${shown.code}`}
          order={shown.order}
          code={shown.code}
          send={send}
          onDone={() => show({ kind: "done", name: nameOf(shown.order) })}
        />
      )}
    </Page>
  );
}

type ChoiceProps = {
  readonly title: string;
  readonly orders: readonly ScannedOrder[];
  readonly onChoice: (order: ScannedOrder) => void;
};

const OrderChoice = ({ title, orders, onChoice }: ChoiceProps) => {
  const { t } = useTranslation();
  return (
    <Section title={title}>
      <Stack gap="xs">
        {orders.map((order) => (
          <Group key={order.orderId} justify="space-between">
            <Text size="sm">
              <Parts
                of={[
                  nameOf(order),
                  <Time key="placed" at={order.createdAt} />,
                  order.merchantName,
                  [order.shippingAddress.name, order.shippingAddress.city].filter(Boolean).join(", "),
                  linesOut(order)
                    .map(({ name }) => name)
                    .join(", "),
                ]}
                between=" · "
              />
            </Text>
            <Button size="xs" variant="default" onClick={() => onChoice(order)}>
              {t("returns.chooseOne")}
            </Button>
          </Group>
        ))}
      </Stack>
    </Section>
  );
};

/** The orders of a name that are looked at, the newest. */
const NAMED_MAX = 8;

/** The orders that a code names; else those of the buyer whose name was typed, who has lost the slip. */
async function findOrders(scan: Scan): Promise<Shown> {
  const found = await lookUp(scan);
  const { code } = found;
  const [order] = found.orders;
  if (order !== undefined) {
    const out = found.orders.filter(canComeBack);
    const [only, other] = out;
    if (only === undefined) return { kind: "none-out", code: nameOf(order) };
    return other === undefined
      ? { kind: "order", order: only, code }
      : { kind: "choice", by: "code", code, orders: out };
  }
  const isName = found.products.length === 0 && found.other === null && /\p{L}{2}/u.test(scan.code);
  const named = isName ? (await ordersOf(scan.code)).filter(canComeBack) : [];
  return named.length > 0
    ? { kind: "choice", by: "name", code, orders: named }
    : { kind: "unknown", scan, found };
}

const canComeBack = (order: ScannedOrder): boolean => order.canReturn && linesOut(order).length > 0;

async function ordersOf(name: string): Promise<ScannedOrder[]> {
  const { data } = await dataOf(
    api.GET("/api/orders", { params: { query: { q: name, testMode: false, limit: NAMED_MAX } } }),
  );
  const found = await Promise.all(
    data.map(({ id }) => lookUp({ code: id, others: [], isOtherLayout: false })),
  );
  return found.flatMap(({ orders }) => orders);
}

type Props = {
  readonly order: ScannedOrder;
  /** What was scanned of it. */
  readonly code: string;
  readonly send: (orderId: string, request: ReturnRequest) => Promise<Order>;
  readonly onDone: () => void;
};

/** What came back of one order, in which condition, and what follows for stock and money. */
function ReturnForm({ order, code, send, onDone }: Props) {
  const { t } = useTranslation();
  // One reference for the parcel on the table: a second click, or a retry after a lost response, is the same return.
  const [reference] = useState(() => newReference("door"));
  const { lines } = order;
  const errorsOf = useReturnErrors();
  const { form, submit, problem, isPending } = useApiForm<ReturnValues, Order>({
    // At the door most goods are as they were sent.
    initialValues: {
      ...returnValues(lines),
      counts: unitsBack(order, code),
      condition: "unopened",
      restock: true,
    },
    validate: (values) => errorsOf(lines, values),
    run: (values) => send(order.orderId, { reference, ...returnRequest(lines, values) }),
    onDone,
  });
  return (
    <Section
      title={order.externalOrderId ?? order.orderId}
      actions={
        <TextLink to={paths.order(order.orderId)} size="sm">
          {t("returns.toOrder")}
        </TextLink>
      }
    >
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          <Text size="sm">
            <bdi>{order.merchantName}</bdi> ·{" "}
            <Parts of={[order.shippingAddress.name, order.shippingAddress.city]} between=", " />
          </Text>
          <ReturnFields lines={lines} form={form} />
          {problem !== null && <ProblemMessage error={problem} />}
          <Group justify="flex-end">
            <Button type="submit" loading={isPending}>
              {t("orderActions.return")}
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}
