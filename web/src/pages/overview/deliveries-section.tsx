import { Group, Stack, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { DeliveryFigures } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { formatDuration } from "../../text/duration.ts";
import { formatNumber, formatPercent } from "../../text/format.ts";
import { TextLink } from "../../ui/link.tsx";
import { Section } from "../../ui/section.tsx";
import classes from "./overview.module.css";

const COLORS = { succeeded: "teal-7", failed: "red-7", pending: "gray-6" } as const;

const OUTCOMES = ["succeeded", "failed", "pending"] as const;

type Props = { readonly of: DeliveryFigures; readonly merchantId: string | undefined };

/** How the deliveries of the last day went: the part that succeeded, and how long they took. */
export function DeliveriesSection({ of: figures, merchantId }: Props) {
  const { t } = useTranslation();
  const { succeeded, succeededAtOnce, failed, pending, medianDelayMs, p90DelayMs } = figures;
  const all = succeeded + failed + pending;
  const lists = {
    succeeded: paths.endpoints({ health: "healthy", merchantId }),
    failed: paths.orders({ hasFailedDelivery: true, merchantId }),
    pending: paths.endpoints({ health: "unhealthy", merchantId }),
  };
  return (
    <Section title={t("overview.deliveries")}>
      {all === 0 ? (
        <Text size="sm" c="dimmed">
          {t("overview.noDeliveries")}
        </Text>
      ) : (
        <Stack gap="xs">
          {/* What waits counts: a figure of what has ended would be 100 % while endpoints are down. */}
          <Text span className={classes["figure"] ?? ""}>
            {t("overview.successful", { part: formatPercent(succeededAtOnce / all) })}
          </Text>
          <div className={classes["bar"]} aria-hidden>
            {OUTCOMES.filter((outcome) => figures[outcome] > 0).map((outcome) => (
              <span
                key={outcome}
                style={{ flexGrow: figures[outcome], background: `var(--mantine-color-${COLORS[outcome]})` }}
              />
            ))}
          </div>
          <Group gap="md">
            {OUTCOMES.map((outcome) => (
              <TextLink key={outcome} to={lists[outcome]} size="sm" c="inherit" underline="hover">
                <span
                  className={classes["swatch"]}
                  style={{ background: `var(--mantine-color-${COLORS[outcome]})` }}
                />
                {t(`overview.outcomes.${outcome}`)} {formatNumber(figures[outcome])}
              </TextLink>
            ))}
          </Group>
          {medianDelayMs !== null && p90DelayMs !== null && (
            <Text size="xs" c="dimmed">
              {t("overview.delay", {
                median: formatDuration(medianDelayMs),
                p90: formatDuration(p90DelayMs),
              })}
            </Text>
          )}
        </Stack>
      )}
    </Section>
  );
}
