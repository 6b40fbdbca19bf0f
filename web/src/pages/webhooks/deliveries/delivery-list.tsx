import { Group, Text } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../../api/client.ts";
import { useHasRole } from "../../../api/me.ts";
import type { Delivery } from "../../../api/schema.d.ts";
import { paths } from "../../../paths.ts";
import { exactTime } from "../../../text/format.ts";
import { ConfirmAction } from "../../../ui/form/confirm-action.tsx";
import { ListPage } from "../../../ui/list/list-page.tsx";
import type { LiveRule } from "../../../ui/list/live-rule.ts";
import { ResendProgress } from "../resends/resend-progress.tsx";

type Props<Row extends Delivery> = Pick<
  Parameters<typeof ListPage<Row>>[0],
  "query" | "filters" | "crumbs" | "about" | "empty" | "columns"
> & {
  /** The connection whose log it is. Undefined: all that the person sees. */
  readonly connectionId: string | undefined;
  readonly connectionOf: (row: Row) => string;
  readonly actions?: ReactNode;
};

/** The log of deliveries. It follows what changes, and deliveries can be chosen to be sent again. */
export function DeliveryList<Row extends Delivery>(props: Props<Row>) {
  const { connectionId, connectionOf, actions, filters, ...rest } = props;
  const { t } = useTranslation();
  const mayChange = useHasRole("operator", "merchant", "partner");
  const [chosen, choose] = useState<ReadonlyMap<string, Row>>(new Map());
  const [resent, setResent] = useState<readonly string[]>([]);
  const shown = connectionId === undefined ? resent : [connectionId];
  return (
    <ListPage<Row>
      {...rest}
      title={t("deliveries.title")}
      actions={mayChange && actions}
      above={shown.map((id) => <ResendProgress key={id} connectionId={id} mayChange={mayChange} />)}
      filters={
        <>
          {filters}
          {chosen.size > 0 && (
            <ChosenDeliveries
              chosen={Map.groupBy(chosen.values(), connectionOf)}
              count={chosen.size}
              onResent={(ids) => {
                setResent((before) => [...new Set([...before, ...ids])]);
                choose(new Map());
              }}
            />
          )}
        </>
      }
      rowKey={({ id }) => id}
      rowTo={(row) => paths.delivery(connectionOf(row), row.id)}
      live={liveDeliveries(connectionId)}
      selection={
        mayChange
          ? {
              chosen,
              choose,
              labelOf: ({ eventType, createdAt }) =>
                t("resends.select", { event: eventType, time: exactTime(new Date(createdAt)) }),
              allLabel: t("resends.selectAll"),
            }
          : undefined
      }
    />
  );
}

type ChosenProps = {
  /** By connection: a resend is of one. */
  readonly chosen: ReadonlyMap<string, readonly Delivery[]>;
  readonly count: number;
  readonly onResent: (connectionIds: readonly string[]) => void;
};

function ChosenDeliveries({ chosen, count, onResent }: ChosenProps) {
  const { t } = useTranslation();
  return (
    <Group gap="sm">
      <Text size="sm" role="status">
        {t("resends.chosen", { count })}
      </Text>
      <ConfirmAction
        label={t("resends.resendChosen", { count })}
        confirm={t("resends.resend")}
        effect={t("resends.chosenEffect")}
        done={t("resends.started")}
        isPrimary
        run={async () => {
          for (const [id, deliveries] of chosen)
            await dataOf(
              api.POST("/api/connections/{id}/resends", {
                params: { path: { id } },
                body: { deliveryIds: deliveries.map((delivery) => delivery.id) },
              }),
            );
          onResent([...chosen.keys()]);
        }}
      />
    </Group>
  );
}

/** The list reads again when deliveries of its connection change, and when an attempt of one that it shows is due. */
const liveDeliveries = (connectionId: string | undefined): LiveRule<Delivery> => ({
  effectOf: ({ deliveriesOf }) => ({
    isChanged: connectionId === undefined ? deliveriesOf.length > 0 : deliveriesOf.includes(connectionId),
    newKeys: [],
  }),
  isDue: (rows) =>
    rows.some(
      ({ status, nextAttemptAt }) =>
        status === "pending" && (nextAttemptAt === null || Date.parse(nextAttemptAt) <= Date.now()),
    ),
});
