import { Stack, Text } from "@mantine/core";
import type { CSSProperties } from "react";
import { useTranslation } from "react-i18next";
import type { HeldOrders } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { parseSearch } from "../../routing/search.ts";
import { TextLink } from "../../ui/link.tsx";
import { Section } from "../../ui/section.tsx";
import { useHoldReason } from "../orders/hold-reason.ts";
import { atLeast } from "./attention-section.tsx";
import classes from "./overview.module.css";

/** Orders on hold by reason. Each bar is a link, and its text says what the bar shows. */
export function HoldsSection({ holds }: { holds: readonly HeldOrders[] }) {
  const { t } = useTranslation();
  const holdReason = useHoldReason();
  const most = Math.max(1, ...holds.map(({ count }) => count));
  return (
    <Section title={t("overview.holds")}>
      {holds.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t("overview.noHolds")}
        </Text>
      ) : (
        <Stack gap={6} component="ul" className={classes["cards"] ?? ""}>
          {holds.map(({ reason, count, query }) => (
            <li key={reason}>
              <TextLink
                to={paths.orders(parseSearch(query))}
                c="inherit"
                size="sm"
                underline="hover"
                className={classes["hold"] ?? ""}
                style={{ "--part": `${(count / most) * 100}%` } as CSSProperties} // The width of its bar.
              >
                <span>{holdReason(reason)}</span>
                <Text span inherit fw={600}>
                  {atLeast(count)}
                </Text>
              </TextLink>
            </li>
          ))}
        </Stack>
      )}
    </Section>
  );
}
