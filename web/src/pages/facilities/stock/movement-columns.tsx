import { Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { StockMovement } from "../../../api/schema.d.ts";
import { paths } from "../../../paths.ts";
import { formatNumber } from "../../../text/format.ts";
import { useActor } from "../../../text/words.ts";
import { PlainLink } from "../../../ui/link.tsx";
import { type Column, IdText } from "../../../ui/list/data-table.tsx";
import { Time } from "../../../ui/time.tsx";

const signed = (value: number): string => (value > 0 ? `+${formatNumber(value)}` : formatNumber(value));

/** The columns of a list of movements, without those that name the product. */
export function useMovementColumns(): readonly Column<StockMovement>[] {
  const { t } = useTranslation();
  const actorOf = useActor();
  return [
    { name: t("stock.when"), cell: ({ createdAt }) => <Time at={createdAt} /> },
    { name: t("stock.what"), cell: (movement) => <What movement={movement} />, isName: true, phone: "end" },
    {
      name: t("stock.difference"),
      align: "right",
      phone: "beside",
      cell: ({ difference }) => signed(difference),
    },
    { name: t("stock.after"), align: "right", cell: ({ onHand }) => formatNumber(onHand) },
    { name: t("stock.who"), cell: ({ actor }) => actorOf(actor), isName: true, drop: 2 },
    {
      name: t("stock.note"),
      isMinor: true,
      isName: true,
      cell: ({ note, reference }) => note ?? reference ?? "–",
    },
  ];
}

function What({ movement: { kind, reason, orderId, externalOrderId } }: { movement: StockMovement }) {
  const { t } = useTranslation();
  return (
    <Text span inherit>
      {t(`movementKinds.${kind}`)}
      {reason !== null && `: ${t(`adjustmentReasons.${reason}`)}`}{" "}
      {orderId !== null && (
        <PlainLink to={paths.order(orderId)}>{externalOrderId ?? <IdText id={orderId} />}</PlainLink>
      )}
    </Text>
  );
}

/** Movements have no id of their own on the wire. */
export const movementKey = ({ productId, createdAt, onHand, difference, orderId }: StockMovement): string =>
  [productId, createdAt, onHand, difference, orderId].join(" ");
