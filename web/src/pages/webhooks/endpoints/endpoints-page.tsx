import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { rolesOf, useMe } from "../../../api/me.ts";
import type { ListedWebhookEndpoint } from "../../../api/schema.d.ts";
import { paths } from "../../../paths.ts";
import type { Column } from "../../../ui/list/data-table.tsx";
import { Filters, SearchFilter, SelectFilter } from "../../../ui/list/filters.tsx";
import { ListPage } from "../../../ui/list/list-page.tsx";
import { HEALTHS } from "../filter-values.ts";
import { changeableKinds, OwnerCell, OwnerFilter, ownerOf, seenKinds } from "../owner.tsx";
import { endpointsQuery } from "../queries.ts";
import { CreateEndpoint } from "./create-endpoint.tsx";
import { useEndpointColumns } from "./endpoints-section.tsx";

const route = getRouteApi("/signed-in/webhook-endpoints");

/** The endpoints of all owners that the person sees, to find those that need attention. */
export function EndpointsPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const roles = rolesOf(useMe());
  const kinds = seenKinds(roles);
  const isFiltered = Object.keys(search).length > 0;
  const [url, ...others] = useEndpointColumns({ hasModes: kinds.includes("connection") });
  const owner: Column<ListedWebhookEndpoint> = {
    name: t("endpoints.owner"),
    cell: (endpoint) => <OwnerCell of={endpoint} />,
    isName: true,
    phone: "below",
  };
  return (
    <ListPage<ListedWebhookEndpoint>
      title={t("endpoints.title")}
      actions={changeableKinds(roles).length > 0 && <CreateEndpoint />}
      query={endpointsQuery(search)}
      filters={
        <Filters>
          <SearchFilter label={t("endpoints.search")} value={search.q} />
          <OwnerFilter value={search.owner} />
          <SelectFilter
            label={t("endpoints.health")}
            name="health"
            value={search.health}
            options={HEALTHS.map((value) => ({
              value,
              label: value === "unhealthy" ? t("endpoints.unhealthy") : t(`status.health.${value}`),
            }))}
          />
          {kinds.includes("connection") && (
            <SelectFilter
              label={t("endpoints.mode")}
              name="mode"
              value={search.mode}
              options={(["live", "test"] as const).map((value) => ({
                value,
                label: t(`keys.modes.${value}`),
              }))}
            />
          )}
        </Filters>
      }
      rowKey={({ id }) => id}
      rowTo={(endpoint) => paths.endpoint(ownerOf(endpoint), endpoint.id)}
      empty={isFiltered ? t("endpoints.emptyFiltered") : t("endpoints.emptyList")}
      columns={url === undefined ? [] : [url, owner, ...others]}
    />
  );
}
