import { Group } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import type { Connection } from "../../api/schema.d.ts";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { Pill } from "../../ui/status-badge.tsx";

// Connections that strangers have made for a test key without a person.

type Props = { readonly of: Connection };

/** Marks the connection of a stranger. */
export function StrangersPill({ of: { endsAt } }: Props) {
  const { t } = useTranslation();
  if (endsAt === null) return null;
  const hasEnded = new Date(endsAt) <= new Date();
  return <Pill>{hasEnded ? t("connections.ended") : t("connections.madeByStranger")}</Pill>;
}

/** The name of a connection in a list. */
export const ConnectionName = ({ of }: Props) =>
  of.endsAt === null ? (
    of.name
  ) : (
    <Group gap="xs" wrap="nowrap">
      {of.name}
      <StrangersPill of={of} />
    </Group>
  );

export function EndConnection({ of: { id } }: Props) {
  const { t } = useTranslation();
  return (
    <ConfirmAction
      label={t("connections.end")}
      effect={t("connections.endEffect")}
      done={t("connections.endDone")}
      isDanger
      run={() => dataOf(api.POST("/api/connections/{id}/end", { params: { path: { id } } }))}
    />
  );
}
