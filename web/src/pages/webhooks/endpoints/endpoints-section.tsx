import { Group, Skeleton, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { paths } from "../../../paths.ts";
import { ButtonLink } from "../../../ui/link.tsx";
import { DataTable } from "../../../ui/list/data-table.tsx";
import { ProblemMessage } from "../../../ui/problem-message.tsx";
import { Section } from "../../../ui/section.tsx";
import { ownerKindOf, useMayChangeEndpoints } from "../owner.ts";
import { ownerEndpointsQuery } from "../queries.ts";
import { CreateEndpoint } from "./create-endpoint.tsx";
import { useEndpointColumns } from "./endpoint-columns.tsx";

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
