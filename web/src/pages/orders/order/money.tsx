import { Stack, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { Order } from "../../../api/schema.d.ts";
import { Money } from "../../../ui/money.tsx";
import { Section } from "../../../ui/section.tsx";
import { StatusBadge } from "../../../ui/status-badge.tsx";
import { useDeclineReason } from "../../money/decline-reason.ts";
import classes from "./money.module.css";

/** The charges and refunds of the order. */
export function OrderMoney({ order: { goods, charges } }: { order: Order }) {
  const { t } = useTranslation();
  const declineReason = useDeclineReason();
  // Partners do not see the merchant's money.
  if (goods === null) return null;
  return (
    <Section title={t("order.money")}>
      <Stack gap={6}>
        <div className={classes["row"]}>
          <Text size="sm">{t("orders.goods")}</Text>
          <Text size="sm" fw={600}>
            <Money of={goods} />
          </Text>
        </div>
        {charges.map(({ id, kind, amount, status, failureReason }) => (
          <div key={id} className={classes["row"]}>
            <Text size="sm" c="dimmed">
              {t(`chargeKinds.${kind}`)} <StatusBadge of="charge" status={status} />
              {failureReason !== null && (
                <Text span size="xs">
                  {" "}
                  {declineReason(failureReason)}
                </Text>
              )}
            </Text>
            <Text size="sm">
              <Money of={amount} />
            </Text>
          </div>
        ))}
      </Stack>
    </Section>
  );
}
