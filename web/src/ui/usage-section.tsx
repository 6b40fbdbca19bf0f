import { Progress, Skeleton, Stack, Text } from "@mantine/core";
import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { read } from "../api/read.ts";
import type { ConnectionUsage, MerchantUsage, UsageOfLimit } from "../api/schema.d.ts";
import { formatNumber } from "../text/format.ts";
import { DataTable } from "./list/data-table.tsx";
import { Section } from "./page.tsx";
import { ProblemMessage } from "./problem-message.tsx";

type Limit = keyof ConnectionUsage | keyof MerchantUsage;

/** From this part of a limit on, the bar warns. */
const WARN_FROM = 0.8;

/** What the connection has stored of everything that has a limit. */
export function ConnectionUsageSection({ connectionId }: { connectionId: string }) {
  const params = { path: { id: connectionId } };
  return <UsageSection {...useQuery(read("/api/connections/{id}/usage", { params }))} />;
}

/** What the merchant has over all its connections. */
export function MerchantUsageSection({ merchantId }: { merchantId: string }) {
  const params = { path: { id: merchantId } };
  return <UsageSection {...useQuery(read("/api/merchants/{id}/usage", { params }))} />;
}

type Usage = Pick<UseQueryResult<ConnectionUsage | MerchantUsage>, "data" | "error" | "refetch">;

function UsageSection({ data, error, refetch }: Usage) {
  const { t } = useTranslation();
  return (
    <Section title={t("usage.title")}>
      {error !== null && <ProblemMessage error={error} retry={() => void refetch()} />}
      {data === undefined ? (
        error === null && <Skeleton height={160} role="status" aria-label={t("ui.loading")} />
      ) : (
        <DataTable
          label={t("usage.title")}
          rows={Object.entries(data) as [Limit, UsageOfLimit][]} // The members of the usage are its limits.
          rowKey={([limit]) => limit}
          columns={[
            { name: t("usage.limit"), cell: ([limit]) => t(`usage.limits.${limit}`) },
            { name: t("usage.used"), cell: ([limit, usage]) => <Used of={usage} limit={limit} /> },
            {
              name: t("usage.maximum"),
              cell: ([, { maximum }]) => formatNumber(maximum),
              align: "right",
            },
          ]}
        />
      )}
    </Section>
  );
}

function Used({ of: { used, maximum }, limit }: { of: UsageOfLimit; limit: Limit }) {
  const { t } = useTranslation();
  if (used === null)
    return (
      <Text span size="sm" c="dimmed">
        {t("usage.perThing")}
      </Text>
    );
  const part = maximum === 0 ? 1 : used / maximum;
  return (
    <Stack gap={4} w={{ base: "8rem", sm: "auto" }}>
      <Text span size="sm">
        {formatNumber(used)}
      </Text>
      <Progress
        value={Math.min(100, part * 100)}
        size="xs"
        color={part >= WARN_FROM ? "orange" : "indigo"}
        aria-label={t(`usage.limits.${limit}`)}
      />
    </Stack>
  );
}
