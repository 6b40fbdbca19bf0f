import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { paths } from "../../paths.ts";
import { Filters, SearchFilter } from "../../ui/list/filters.tsx";
import { ListPage } from "../../ui/list/list-page.tsx";
import { Time } from "../../ui/time.tsx";
import { ConnectionName } from "./end-connection.tsx";
import { connectionsQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/connections");

/** All connections that the person sees. */
export function ConnectionsPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  return (
    <ListPage
      title={t("connections.title")}
      query={connectionsQuery(search)}
      filters={
        <Filters>
          <SearchFilter label={t("connections.search")} value={search.q} />
        </Filters>
      }
      rowKey={({ id }) => id}
      rowTo={({ id }) => paths.connection(id)}
      empty={search.q === undefined ? t("connections.emptyList") : t("connections.emptyFiltered")}
      columns={[
        {
          name: t("connections.name"),
          cell: (connection) => <ConnectionName of={connection} />,
          isLong: true,
        },
        {
          name: t("connections.merchant"),
          cell: ({ merchantName }) => merchantName,
          isName: true,
          phone: "below",
        },
        {
          name: t("connections.created"),
          cell: ({ createdAt }) => <Time at={createdAt} />,
          align: "right",
          phone: "end",
        },
      ]}
    />
  );
}
