import { Text } from "@mantine/core";
import type { Money as MoneyValue } from "../api/schema.d.ts";
import { formatMoney } from "../text/format.ts";

/**
 * An amount in the merchant's currency. Digits have one width, so that columns of amounts align. Nothing for null: what
 * the person may not see has no amount.
 */
export const Money = ({ of }: { of: MoneyValue | null }) =>
  of === null ? null : (
    <Text span inherit style={{ fontVariantNumeric: "tabular-nums", whiteSpace: "nowrap" }}>
      {formatMoney(of)}
    </Text>
  );
