import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { connectionQuery } from "./queries.ts";

/** The name of a connection, for the way to a page below it. Until it is read: what it is. */
export function useConnectionName(connectionId: string): string {
  const { t } = useTranslation();
  const { data } = useQuery(connectionQuery(connectionId));
  return data?.name ?? t("endpoints.connection");
}
