import { Skeleton, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { useHasRole } from "../../../api/me.ts";
import { paths } from "../../../paths.ts";
import { DataTable } from "../../../ui/list/data-table.tsx";
import { ProblemMessage } from "../../../ui/problem-message.tsx";
import { Section } from "../../../ui/section.tsx";
import { connectionEndpointsQuery } from "../queries.ts";
import { CreateEndpoint } from "./create-endpoint.tsx";
import { useEndpointColumns } from "./endpoint-columns.tsx";

/** The endpoints of a connection. */
export function EndpointsSection({ connectionId }: { connectionId: string }) {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(connectionEndpointsQuery(connectionId));
  const columns = useEndpointColumns();
  const mayChange = useHasRole("operator", "merchant", "partner");
  return (
    <Section
      title={t("endpoints.title")}
      actions={mayChange && <CreateEndpoint connectionId={connectionId} />}
    >
      {error !== null && <ProblemMessage error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && (
        <Skeleton height={80} role="status" aria-label={t("ui.loading")} />
      )}
      {data?.data.length === 0 && (
        <Text size="sm" c="dimmed">
          {t("endpoints.empty")}
        </Text>
      )}
      {data !== undefined && data.data.length > 0 && (
        <DataTable
          label={t("endpoints.title")}
          rows={data.data}
          rowKey={({ id }) => id}
          rowTo={({ id }) => paths.endpoint(connectionId, id)}
          columns={columns}
        />
      )}
    </Section>
  );
}
