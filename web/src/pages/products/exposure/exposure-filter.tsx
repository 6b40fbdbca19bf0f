import { Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { connectionQuery } from "../../connections/queries.ts";
import { merchantConnectionsQuery } from "../queries.ts";

type Filter = { readonly connectionId: string | undefined; readonly exposed: boolean | undefined };

type Props = Filter & { readonly merchantId: string; readonly set: (filter: Filter) => void };

/** A connection is chosen with whether the products are exposed to it: the two parameters of the address are one choice. */
const choiceOf = ({ connectionId, exposed }: Filter): string | null =>
  connectionId === undefined && exposed === undefined
    ? null
    : `${exposed === false ? "not" : "is"}:${connectionId ?? ""}`;

function filterOf(value: string | null): Filter {
  if (value === null) return { connectionId: undefined, exposed: undefined };
  const [state, connectionId = ""] = value.split(":");
  return { connectionId: connectionId === "" ? undefined : connectionId, exposed: state === "is" };
}

/** To which connection products are exposed, or are not. */
export function ExposureFilter({ merchantId, set, ...filter }: Props) {
  const { t } = useTranslation();
  const { data } = useQuery(merchantConnectionsQuery(merchantId));
  const listed = data?.data ?? [];
  // An address can name a connection beyond those that are offered.
  const { data: named } = useQuery({
    ...connectionQuery(filter.connectionId ?? ""),
    enabled: filter.connectionId !== undefined && !listed.some(({ id }) => id === filter.connectionId),
  });
  const connections = named === undefined ? listed : [...listed, named];
  const options = (state: "is" | "not") => [
    {
      value: `${state}:`,
      label:
        state === "is"
          ? t("products.exposedTo", { connection: t("products.anyConnection") })
          : t("products.exposedTo", { connection: t("products.noConnection") }),
    },
    ...connections.map(({ id, name }) => ({
      value: `${state}:${id}`,
      label: t(state === "is" ? "products.exposedTo" : "products.notExposed", { connection: name }),
    })),
  ];
  return (
    <Select
      size="xs"
      w={{ base: "100%", xs: 260 }}
      aria-label={t("products.connection")}
      placeholder={t("products.connection")}
      data={[
        { group: t("exposure.exposed"), items: options("is") },
        { group: t("exposure.hidden"), items: options("not") },
      ]}
      value={choiceOf(filter)}
      onChange={(value) => set(filterOf(value))}
      searchable
      clearable
      comboboxProps={{ withinPortal: true }}
    />
  );
}
