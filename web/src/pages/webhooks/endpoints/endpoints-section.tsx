import { Group, Skeleton, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import type { ListedWebhookEndpoint } from "../../../api/schema.d.ts";
import { paths } from "../../../paths.ts";
import { formatNumber } from "../../../text/format.ts";
import { useAttemptError } from "../../../text/words.ts";
import { ButtonLink } from "../../../ui/link.tsx";
import { type Column, DataTable } from "../../../ui/list/data-table.tsx";
import { Section } from "../../../ui/page.tsx";
import { ProblemMessage } from "../../../ui/problem-message.tsx";
import { Pill, StatusBadge } from "../../../ui/status-badge.tsx";
import { Time } from "../../../ui/time.tsx";
import { endpointName, ownerKindOf, useMayChangeEndpoints } from "../owner.tsx";
import { ownerEndpointsQuery } from "../queries.ts";
import { CreateEndpoint } from "./create-endpoint.tsx";

/** The endpoints of an owner. */
export function EndpointsSection({ ownerId }: { ownerId: string }) {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(ownerEndpointsQuery(ownerId));
  const columns = useEndpointColumns({ hasModes: ownerKindOf(ownerId) === "connection" });
  const mayChange = useMayChangeEndpoints(ownerId);
  const kind = ownerKindOf(ownerId);
  const title = t(`endpoints.titles.${kind}`);
  return (
    <Section
      title={title}
      actions={
        <Group gap="xs">
          {kind !== "connection" && (
            <ButtonLink to={paths.deliveries(ownerId)} size="xs" variant="default">
              {t("deliveries.title")}
            </ButtonLink>
          )}
          {mayChange && <CreateEndpoint ownerId={ownerId} />}
        </Group>
      }
    >
      {error !== null && <ProblemMessage error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && (
        <Skeleton height={80} role="status" aria-label={t("ui.loading")} />
      )}
      {data?.data.length === 0 && (
        <Text size="sm" c="dimmed">
          {t(`endpoints.emptyOf.${kind}`)}
        </Text>
      )}
      {data !== undefined && data.data.length > 0 && (
        <DataTable
          label={title}
          rows={data.data}
          rowKey={({ id }) => id}
          rowTo={({ id }) => paths.endpoint(ownerId, id)}
          columns={columns}
        />
      )}
    </Section>
  );
}

type Row = Pick<
  ListedWebhookEndpoint,
  | "id"
  | "url"
  | "description"
  | "health"
  | "pendingDeliveries"
  | "lastSuccessAt"
  | "lastError"
  | "failingSince"
> & { readonly mode?: ListedWebhookEndpoint["mode"] };

/**
 * The columns of every list of endpoints.
 * @param hasModes only connections have test orders, and so a mode
 */
export function useEndpointColumns({ hasModes }: { hasModes: boolean }): readonly Column<Row>[] {
  const { t } = useTranslation();
  const errorText = useAttemptError();
  return [
    { name: t("endpoints.url"), cell: (endpoint) => endpointName(endpoint, t), isLong: true },
    {
      name: t("endpoints.health"),
      cell: ({ health }) => <StatusBadge of="health" status={health} />,
      phone: "beside",
    },
    {
      name: t("endpoints.lastError"),
      // Errors from before the last success do not matter any more.
      cell: ({ failingSince, lastError }) =>
        failingSince === null || lastError === null ? "–" : errorText(lastError),
      isName: true,
      drop: 2,
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
      drop: 3,
    },
    {
      name: t("endpoints.lastSuccess"),
      cell: ({ lastSuccessAt }) => <Time at={lastSuccessAt} as="relative" />,
      align: "right",
      phone: "end",
    },
  ];
}

/** The service counts up to a thousand. */
export const countOf = (count: number | null): string =>
  count === null ? "–" : count >= 1_000 ? `${formatNumber(1_000)}+` : formatNumber(count);
