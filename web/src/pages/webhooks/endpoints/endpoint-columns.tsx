import { useTranslation } from "react-i18next";
import type { ListedWebhookEndpoint } from "../../../api/schema.d.ts";
import { formatNumber } from "../../../text/format.ts";
import type { Column } from "../../../ui/list/data-table.tsx";
import { Pill, StatusBadge } from "../../../ui/status-badge.tsx";
import { Time } from "../../../ui/time.tsx";

type Row = Pick<
  ListedWebhookEndpoint,
  "id" | "url" | "health" | "pendingDeliveries" | "lastSuccessAt" | "lastError" | "failingSince"
> & { readonly mode?: ListedWebhookEndpoint["mode"] };

/**
 * The columns of every list of endpoints.
 * @param hasModes only connections have test orders, and so a mode
 */
export function useEndpointColumns({ hasModes }: { hasModes: boolean }): readonly Column<Row>[] {
  const { t } = useTranslation();
  return [
    { name: t("endpoints.url"), cell: ({ url }) => url, isLong: true },
    { name: t("endpoints.health"), cell: ({ health }) => <StatusBadge of="health" status={health} /> },
    {
      name: t("endpoints.lastError"),
      // Errors from before the last success do not matter any more.
      cell: ({ failingSince, lastError }) => (failingSince === null ? "–" : (lastError ?? "–")),
      isMinor: true,
    },
    ...(hasModes
      ? [
          {
            name: t("endpoints.mode"),
            cell: ({ mode = "live" }: Row) => (
              <Pill tone={mode === "live" ? "info" : "neutral"}>{t(`keys.modes.${mode}`)}</Pill>
            ),
            isMinor: true,
          },
        ]
      : []),
    {
      name: t("endpoints.pending"),
      cell: ({ pendingDeliveries }) => countOf(pendingDeliveries),
      align: "right",
    },
    {
      name: t("endpoints.lastSuccess"),
      cell: ({ lastSuccessAt }) => <Time at={lastSuccessAt} as="relative" />,
      align: "right",
    },
  ];
}

/** The service counts up to a thousand. */
export const countOf = (count: number | null): string =>
  count === null ? "–" : count >= 1_000 ? `${formatNumber(1_000)}+` : formatNumber(count);
