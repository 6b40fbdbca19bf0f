import { Group, Paper, SimpleGrid, Text } from "@mantine/core";
import { IconChevronRight, IconCircleCheck } from "@tabler/icons-react";
import { useTranslation } from "react-i18next";
import type { Attention } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { parseSearch } from "../../routing/search.ts";
import { formatNumber } from "../../text/format.ts";
import { TextLink } from "../../ui/link.tsx";
import { Section } from "../../ui/page.tsx";
import { useHoldReason } from "../orders/order-text.ts";
import classes from "./overview.module.css";

/** A count of a connection ends here, so a larger one may be larger still. */
const COUNTED_MAX = 1_000;

export const atLeast = (count: number): string =>
  count >= COUNTED_MAX ? `${formatNumber(count)}+` : formatNumber(count);

const LISTS = {
  orders: paths.orders,
  "webhook-endpoints": paths.endpoints,
} as const satisfies Record<Attention["list"], unknown>;

/** What a person should look at now. The cards lead to exactly the things that they count. */
export function AttentionSection({ attention }: { attention: readonly Attention[] }) {
  const { t } = useTranslation();
  return (
    <Section title={t("overview.attention")}>
      {attention.length === 0 ? (
        <Group gap="xs" wrap="nowrap">
          <IconCircleCheck size={18} color="var(--mantine-color-teal-6)" aria-hidden />
          <Text size="sm">{t("overview.nothing")}</Text>
        </Group>
      ) : (
        <SimpleGrid
          cols={{ base: 1, xs: 2, md: 3, lg: 4 }}
          spacing="sm"
          component="ul"
          className={classes["cards"] ?? ""}
        >
          {attention.map((each) => (
            <AttentionCard key={`${each.kind} ${each.reason}`} of={each} />
          ))}
        </SimpleGrid>
      )}
    </Section>
  );
}

function AttentionCard({ of: { kind, reason, count, list, query } }: { of: Attention }) {
  const { t } = useTranslation();
  const holdReason = useHoldReason();
  return (
    <Paper component="li" withBorder radius="md" className={classes["card"] ?? ""} data-tone={TONES[kind]}>
      <TextLink to={LISTS[list](parseSearch(query))} underline="never" c="inherit">
        <Group justify="space-between" wrap="nowrap" gap="xs">
          <span>
            <Text span display="block" size="xl" fw={600} lh={1.2}>
              {atLeast(count)}
            </Text>
            <Text span display="block" size="sm">
              {kind === "hold" && reason !== null
                ? t("overview.kinds.hold", { reason: holdReason(reason) })
                : t(`overview.kinds.${kind}`)}
            </Text>
          </span>
          <IconChevronRight size={16} aria-hidden />
        </Group>
      </TextLink>
    </Paper>
  );
}

const TONES: Readonly<Record<Attention["kind"], "warning" | "danger">> = {
  review: "warning",
  hold: "warning",
  not_routed: "danger",
  endpoint_paused: "warning",
  endpoint_failing: "danger",
};
