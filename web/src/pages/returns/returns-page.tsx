import { Button, Group, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import type { Order, ReturnRequest, Scan, ScannedOrder } from "../../api/schema.d.ts";
import { Page } from "../../ui/page.tsx";
import { Parts } from "../../ui/parts.tsx";
import { ProblemMessage } from "../../ui/problem-message.tsx";
import { Feedback } from "../../ui/scan/feedback.tsx";
import { ScanField } from "../../ui/scan/scan-field.tsx";
import { Section } from "../../ui/section.tsx";
import { scanned } from "../packing/queries.ts";
import { ReturnForm } from "./return-form.tsx";
import { linesOut } from "./returned-goods.ts";

type Shown =
  | { readonly kind: "nothing" | "unknown" | "none-out"; readonly code: string }
  | { readonly kind: "order"; readonly order: ScannedOrder }
  | { readonly kind: "choice"; readonly orders: readonly ScannedOrder[] }
  | { readonly kind: "done"; readonly name: string };

const nameOf = ({ externalOrderId, orderId }: ScannedOrder) => externalOrderId ?? orderId;

const sendReturn = (id: string, body: ReturnRequest): Promise<Order> =>
  dataOf(api.POST("/api/orders/{id}/return", { params: { path: { id } }, body }));

/** A parcel at the door: find its order, say what is in it. */
export function ReturnsPage() {
  const { t } = useTranslation();
  const [shown, setShown] = useState<Shown>({ kind: "nothing", code: "" });
  const [number, setNumber] = useState(0);
  const show = (next: Shown) => {
    setShown(next);
    setNumber((before) => before + 1);
  };
  // The parcel in the hand is the one that was scanned last, also if the response of an earlier scan comes after its own.
  const latest = useRef("");
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
  const find = useMutation<Scan | null, Error, string>({
    mutationFn: async (code) => {
      // The next parcel waits for the return of the one before. If that was refused, the form stays, and says why.
      const isRecorded = await sending.current?.then(
        () => true,
        () => false,
      );
      return isRecorded === false ? null : scanned(code);
    },
    onSuccess: (found, code) => {
      if (found !== null && code === latest.current) show(shownFor(code, found.orders));
    },
  });
  return (
    <Page title={t("returns.title")} about={t("returns.about")}>
      <ScanField
        label={t("returns.scan")}
        round={number}
        onScan={(code) => {
          if (code === "") return;
          latest.current = code;
          find.mutate(code);
        }}
      />
      {find.error !== null && <ProblemMessage error={find.error} />}
      {shown.kind === "unknown" && (
        <Feedback tone="bad" number={number} text={t("returns.unknown", { code: shown.code })} />
      )}
      {shown.kind === "none-out" && (
        <Feedback tone="bad" number={number} text={t("returns.noneOut", { order: shown.code })} />
      )}
      {shown.kind === "done" && (
        <Feedback tone="good" number={number} text={t("returns.done", { order: shown.name })} />
      )}
      {shown.kind === "choice" && (
        <OrderChoice orders={shown.orders} onChoice={(order) => show({ kind: "order", order })} />
      )}
      {shown.kind === "order" && (
        <ReturnForm
          key={shown.order.orderId}
          order={shown.order}
          send={send}
          onDone={() => show({ kind: "done", name: nameOf(shown.order) })}
        />
      )}
    </Page>
  );
}

type ChoiceProps = {
  readonly orders: readonly ScannedOrder[];
  readonly onChoice: (order: ScannedOrder) => void;
};

const OrderChoice = ({ orders, onChoice }: ChoiceProps) => {
  const { t } = useTranslation();
  return (
    <Section title={t("returns.choose")}>
      <Stack gap="xs">
        {orders.map((order) => (
          <Group key={order.orderId} justify="space-between">
            <Text size="sm">
              <Parts of={[nameOf(order), order.merchantName, order.shippingAddress.name]} between=" · " />
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

function shownFor(code: string, orders: readonly ScannedOrder[]): Shown {
  const [order] = orders;
  if (order === undefined) return { kind: "unknown", code };
  const out = orders.filter((each) => each.canReturn && linesOut(each).length > 0);
  const [only, other] = out;
  if (only === undefined) return { kind: "none-out", code: nameOf(order) };
  return other === undefined ? { kind: "order", order: only } : { kind: "choice", orders: out };
}
