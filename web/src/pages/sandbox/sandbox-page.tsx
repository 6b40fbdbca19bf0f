import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect } from "react";
import { useTranslation } from "react-i18next";
import { paths } from "../../paths.ts";
import { useGo } from "../../ui/link.tsx";
import { Filters, SearchFilter } from "../../ui/list/filters.tsx";
import { ListPage } from "../../ui/list/list-page.tsx";
import { sandboxConnectionsQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/sandbox");

/** Chooses the connection whose sandbox it is. A person with a single one is already there. */
export function SandboxPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const go = useGo();
  const { data } = useSuspenseQuery(sandboxConnectionsQuery(search));
  const isSearched = Object.keys(search).length > 0;
  const only =
    !isSearched && data.data.length === 1 && data.nextCursor === null ? data.data[0]?.id : undefined;
  useEffect(() => {
    if (only !== undefined) void go(paths.workbench(only), { replace: true });
  }, [only]);
  return (
    <ListPage
      title={t("sandbox.title")}
      about={t("sandbox.choose")}
      query={sandboxConnectionsQuery(search)}
      filters={
        <Filters>
          <SearchFilter label={t("connections.search")} value={search.q} />
        </Filters>
      }
      rowKey={({ id }) => id}
      rowTo={({ id }) => paths.workbench(id)}
      empty={isSearched ? t("connections.emptyFiltered") : t("connections.emptyList")}
      columns={[
        { name: t("connections.name"), cell: ({ name }) => name, isLong: true },
        { name: t("connections.merchant"), cell: ({ merchantName }) => merchantName, isName: true },
      ]}
    />
  );
}
