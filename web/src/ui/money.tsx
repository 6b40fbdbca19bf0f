import { Text } from "@mantine/core";
import type { Money as MoneyValue } from "../api/schema.d.ts";
import { formatMoney } from "../text/format.ts";

/** An amount in the merchant's currency. Digits have one width, so that columns of amounts align. */
export const Money = ({ of }: { of: MoneyValue }) => (
  <Text span inherit style={{ fontVariantNumeric: "tabular-nums", whiteSpace: "nowrap" }}>
    {formatMoney(of)}
  </Text>
);
