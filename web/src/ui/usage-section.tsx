import { NumberInput, Progress, Skeleton, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../api/client.ts";
import { useHasRole } from "../api/me.ts";
import { read } from "../api/read.ts";
import type { Connection, ConnectionUsage, Merchant, MerchantUsage, UsageOfLimit } from "../api/schema.d.ts";
import { formatNumber } from "../text/format.ts";
import { ConfirmAction } from "./form/confirm-action.tsx";
import { DataTable } from "./list/data-table.tsx";
import { Section } from "./page.tsx";
import { ProblemMessage } from "./problem-message.tsx";

type Limit = keyof ConnectionUsage | keyof MerchantUsage;

/** From this part of a limit on, the bar warns. */
const WARN_FROM = 0.8;

/** What the connection has stored of everything that has a limit. The operator changes the limits. */
export function ConnectionUsageSection({ connection: { id, limits } }: { connection: Connection }) {
  const params = { path: { id } };
  return (
    <UsageSection
      {...useQuery(read("/api/connections/{id}/usage", { params }))}
      limits={limits}
      change={(changed) => dataOf(api.PATCH("/api/connections/{id}", { params, body: { limits: changed } }))}
    />
  );
}

/** What the merchant has over all its connections. */
export function MerchantUsageSection({ merchant: { id, limits } }: { merchant: Merchant }) {
  const params = { path: { id } };
  return (
    <UsageSection
      {...useQuery(read("/api/merchants/{id}/usage", { params }))}
      limits={limits}
      change={(changed) => dataOf(api.PATCH("/api/merchants/{id}", { params, body: { limits: changed } }))}
    />
  );
}

/** Null: the default. */
type Limits = Readonly<Partial<Record<Limit, number | null>>>;

type Props = {
  readonly data: ConnectionUsage | MerchantUsage | undefined;
  readonly error: Error | null;
  readonly refetch: () => unknown;
  readonly limits: Limits;
  readonly change: (changed: Limits) => Promise<unknown>;
};

function UsageSection({ data, error, refetch, limits, change }: Props) {
  const { t } = useTranslation();
  const isOperator = useHasRole("operator");
  const rows = Object.entries(data ?? {}) as [Limit, UsageOfLimit][]; // The members of the usage are its limits.
  return (
    <Section
      title={t("usage.title")}
      actions={isOperator && rows.length > 0 && <ChangeLimits usage={rows} limits={limits} change={change} />}
    >
      {error !== null && <ProblemMessage error={error} retry={() => void refetch()} />}
      {data === undefined ? (
        error === null && <Skeleton height={160} role="status" aria-label={t("ui.loading")} />
      ) : (
        <DataTable
          label={t("usage.title")}
          rows={rows}
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

/** The service's highest value of a limit. */
const LIMIT_MAX = 10_000_000;

type ChangeProps = Pick<Props, "limits" | "change"> & { readonly usage: [Limit, UsageOfLimit][] };

/** An empty field is the default, which it shows. */
function ChangeLimits({ usage, limits, change }: ChangeProps) {
  const { t } = useTranslation();
  return (
    <ConfirmAction<Partial<Record<Limit, number | string>>>
      label={t("usage.change")}
      effect={t("usage.changeEffect", { maximum: formatNumber(LIMIT_MAX) })}
      done={t("usage.changed")}
      initialValues={Object.fromEntries(usage.map(([limit]) => [limit, limits[limit] ?? ""]))}
      fields={(form) => (
        <Stack gap="sm">
          {usage.map(([limit, { used, default: standard }], index) => (
            <NumberInput
              key={limit}
              label={t(`usage.limits.${limit}`)}
              description={used === null ? undefined : t("usage.inUse", { used: formatNumber(used) })}
              placeholder={t("usage.default", { value: formatNumber(standard) })}
              min={0}
              max={LIMIT_MAX}
              allowDecimal={false}
              {...(index === 0 && { "data-autofocus": true })}
              {...form.getInputProps(limit)}
              error={form.errors[`limits.${limit}`]}
            />
          ))}
        </Stack>
      )}
      run={(_, { changed }) =>
        change(
          Object.fromEntries(
            Object.entries(changed).map(([limit, value]) => [limit, value === "" ? null : Number(value)]),
          ),
        )
      }
    />
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
