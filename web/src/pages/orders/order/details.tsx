import { Code, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { useHasRole } from "../../../api/me.ts";
import type { Order } from "../../../api/schema.d.ts";
import { paths } from "../../../paths.ts";
import { AddressLines, addressText } from "../../../ui/address.tsx";
import { CopiedText, CopyButton } from "../../../ui/copy-button.tsx";
import { Facts } from "../../../ui/facts.tsx";
import { TextLink } from "../../../ui/link.tsx";
import { Section } from "../../../ui/page.tsx";
import { Time } from "../../../ui/time.tsx";

type Props = { readonly order: Order };

/** Whose order it is and when it changed. */
export function OrderDetails({ order }: Props) {
  const { t } = useTranslation();
  const seesMerchant = useHasRole("operator", "warehouse", "merchant", "support");
  return (
    <Section title={t("order.details")}>
      <Facts
        of={[
          [t("order.id"), <CopiedText key="id" value={order.id} of={t("order.id")} />],
          [
            t("order.externalId"),
            order.externalOrderId === null ? null : (
              <CopiedText key="external" value={order.externalOrderId} of={t("order.externalId")} />
            ),
          ],
          [
            t("orders.merchant"),
            seesMerchant ? (
              <TextLink key="merchant" to={paths.merchant(order.merchantId)}>
                {order.merchantName}
              </TextLink>
            ) : (
              order.merchantName
            ),
          ],
          [
            t("orders.connection"),
            <TextLink key="connection" to={paths.connection(order.connectionId)}>
              {order.connectionName}
            </TextLink>,
          ],
          [t("orders.created"), <Time key="created" at={order.createdAt} />],
          [t("order.updated"), <Time key="updated" at={order.updatedAt} />],
          [t("order.cancelableUntil"), <CancelableUntil key="until" order={order} />],
          [t("order.routed"), <Time key="routed" at={order.routedAt} />],
        ]}
      />
    </Section>
  );
}

/** An order whose payment failed can be canceled as long as that lasts: the API has a time that never comes. */
function CancelableUntil({ order: { cancelableUntil } }: Props) {
  const { t } = useTranslation();
  return cancelableUntil?.startsWith("9999-") ? t("order.untilPaid") : <Time at={cancelableUntil} />;
}

/** Where the order goes. */
export function OrderAddress({ order: { shippingAddress: address, personalDataErasedAt } }: Props) {
  const { t } = useTranslation();
  return (
    <Section
      title={t("order.address")}
      actions={
        personalDataErasedAt === null && <CopyButton value={textOf(address)} of={t("order.address")} />
      }
    >
      {personalDataErasedAt === null ? (
        <Text size="sm" component="address" style={{ fontStyle: "normal" }}>
          <AddressLines of={address} />
          {address.phone !== null && <div>{address.phone}</div>}
        </Text>
      ) : (
        <Text size="sm" c="dimmed">
          {t("order.erased")} <Time at={personalDataErasedAt} />
        </Text>
      )}
    </Section>
  );
}

const textOf = (address: Order["shippingAddress"]): string =>
  [addressText(address), address.phone].filter(Boolean).join("\n");

/** What the partner wrote to the order. */
export function OrderNote({ order: { note, metadata } }: Props) {
  const { t } = useTranslation();
  const entries = Object.entries(metadata);
  if (note === null && entries.length === 0) return null;
  return (
    <Section title={t("order.note")}>
      {note !== null && (
        <Text size="sm" style={{ whiteSpace: "pre-line", overflowWrap: "anywhere" }}>
          {note}
        </Text>
      )}
      {entries.length > 0 && (
        <Facts of={entries.map(([name, value]) => [name, <Code key={name}>{value}</Code>])} />
      )}
    </Section>
  );
}
