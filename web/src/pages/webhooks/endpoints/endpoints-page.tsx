import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { paths } from "../../../paths.ts";
import { Filters, SelectFilter } from "../../../ui/list/filters.tsx";
import { ListPage } from "../../../ui/list/list-page.tsx";
import { HEALTHS } from "../filter-values.ts";
import { endpointsQuery } from "../queries.ts";
import { useEndpointColumns } from "./endpoint-columns.tsx";

const route = getRouteApi("/signed-in/webhook-endpoints");

/** The endpoints of all connections that the person sees, to find those that need attention. */
export function EndpointsPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const isFiltered = Object.keys(search).length > 0;
  return (
    <ListPage
      title={t("endpoints.title")}
      about={t("endpoints.about")}
      query={endpointsQuery(search)}
      filters={
        <Filters>
          <SelectFilter
            label={t("endpoints.health")}
            name="health"
            value={search.health}
            options={HEALTHS.map((value) => ({
              value,
              label: value === "unhealthy" ? t("endpoints.unhealthy") : t(`status.health.${value}`),
            }))}
          />
          <SelectFilter
            label={t("endpoints.mode")}
            name="mode"
            value={search.mode}
            options={(["live", "test"] as const).map((value) => ({
              value,
              label: t(`keys.modes.${value}`),
            }))}
          />
        </Filters>
      }
      rowKey={({ id }) => id}
      rowTo={({ connectionId, id }) => paths.endpoint(connectionId ?? "", id)} // The list asks for those of connections.
      empty={isFiltered ? t("endpoints.emptyFiltered") : t("endpoints.emptyList")}
      columns={useEndpointColumns()}
    />
  );
}
