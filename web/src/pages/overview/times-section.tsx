import { Stack, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { OrderDurations, Overview } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { formatDuration } from "../../text/duration.ts";
import { TextLink } from "../../ui/link.tsx";
import { Section } from "../../ui/section.tsx";
import classes from "./overview.module.css";

type Props = { readonly of: Overview; readonly merchantId: string | undefined };

/** How long the newest shipped orders took. */
export function TimesSection({ of: { acceptance, shipping }, merchantId }: Props) {
  const { t } = useTranslation();
  const shipped = paths.orders({ status: "COMPLETED", merchantId });
  return (
    <Section title={t("overview.times")}>
      {acceptance.count === 0 && shipping.count === 0 ? (
        <Text size="sm" c="dimmed">
          {t("overview.noTimes")}
        </Text>
      ) : (
        <Stack gap="md">
          <Duration name={t("overview.toAcceptance")} of={acceptance} to={shipped} />
          <Duration name={t("overview.toShipping")} of={shipping} to={shipped} />
        </Stack>
      )}
    </Section>
  );
}

function Duration({ name, of, to }: { name: string; of: OrderDurations; to: string }) {
  const { t } = useTranslation();
  const { count, medianSeconds, p90Seconds } = of;
  return (
    <div>
      <Text size="sm" c="dimmed">
        {name}
      </Text>
      <div className={classes["figure"]}>
        {medianSeconds === null ? (
          "–"
        ) : (
          <TextLink to={to} inherit c="inherit" underline="hover">
            {formatDuration(medianSeconds * 1_000)}
          </TextLink>
        )}
      </div>
      {p90Seconds !== null && (
        <Text size="xs" c="dimmed">
          {t("overview.ofOrders", { count, duration: formatDuration(p90Seconds * 1_000) })}
        </Text>
      )}
    </div>
  );
}
