import { Divider, Stack, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { Money as MoneyValue, Order } from "../../../api/schema.d.ts";
import { formatNumber } from "../../../text/format.ts";
import { useDeclineReason } from "../../../text/words.ts";
import { Money } from "../../../ui/money.tsx";
import { Section } from "../../../ui/page.tsx";
import { StatusBadge } from "../../../ui/status-badge.tsx";
import { type ChargeLine, chargeLines } from "./charge-lines.ts";
import classes from "./order.module.css";

/** What the order costs the merchant: each charge and refund once, and what they come to. */
export function OrderMoney({ order }: { order: Order }) {
  const { t } = useTranslation();
  const { goods, totals } = order;
  // Partners do not see the merchant's money.
  if (goods === null || totals === null) return null;
  const lines = chargeLines(order);
  return (
    <Section title={t("order.money")}>
      <Stack gap={6}>
        <Sum name={t("orders.goods")} amount={goods} />
        {lines.map((line) => (
          <Line key={line.id} line={line} />
        ))}
        {lines.length > 0 && (
          <>
            <Divider my={2} />
            <Sum name={t("order.charged")} amount={totals.charged} />
            {lines.some(({ kind }) => kind === "refund") && (
              <Sum name={t("order.refundedSum")} amount={negative(totals.refunded)} />
            )}
            <Sum name={t("order.net")} amount={totals.net} isMain />
          </>
        )}
      </Stack>
    </Section>
  );
}

type SumProps = { readonly name: string; readonly amount: MoneyValue; readonly isMain?: boolean };

const Sum = ({ name, amount, isMain = false }: SumProps) => (
  <div className={classes["row"]}>
    <Text size="sm" fw={isMain ? 600 : 400}>
      {name}
    </Text>
    <Text size="sm" fw={isMain ? 600 : 400}>
      <Money of={amount} />
    </Text>
  </div>
);

function Line({ line: { kind, amount, status, failureReason, attempts, refund } }: { line: ChargeLine }) {
  const { t } = useTranslation();
  const declineReason = useDeclineReason();
  const notes = [
    refund !== null && `${t(`refundReasons.${refund.reason}`)} · ${refund.reference}`,
    failureReason !== null && declineReason(failureReason),
    attempts > 1 && t("order.attemptsOf", { number: formatNumber(attempts) }),
  ].filter(Boolean);
  return (
    <div className={classes["row"]}>
      <Text size="sm" c="dimmed" component="div" miw={0} style={{ overflowWrap: "anywhere" }}>
        {t(`chargeKinds.${kind}`)} <StatusBadge of="charge" status={status} />
        {notes.length > 0 && <Text size="xs">{notes.join(" · ")}</Text>}
      </Text>
      <Text size="sm">
        <Money of={kind === "refund" ? negative(amount) : amount} />
      </Text>
    </div>
  );
}

/** Money that goes back. Nothing has no sign. */
const negative = ({ amount, currency }: MoneyValue): MoneyValue => ({
  amount: /^[0.]+$/.test(amount) ? amount : `-${amount}`,
  currency,
});
