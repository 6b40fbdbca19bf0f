import { Group, Text } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../../api/client.ts";
import { rolesOf, useMe } from "../../../api/me.ts";
import type { BackOfficeDelivery } from "../../../api/schema.d.ts";
import { paths } from "../../../paths.ts";
import { exactTime } from "../../../text/format.ts";
import { ConfirmAction } from "../../../ui/form/confirm-action.tsx";
import { ListPage } from "../../../ui/list/list-page.tsx";
import type { LiveRule } from "../../../ui/list/live-rule.ts";
import { changeableKinds, ownerKindOf, ownerRoute } from "../owner.ts";
import { ResendProgress } from "../resends/resend-progress.tsx";

type Props<Row extends BackOfficeDelivery> = Pick<
  Parameters<typeof ListPage<Row>>[0],
  "query" | "filters" | "crumbs" | "about" | "empty" | "columns"
> & {
  /** Whose log it is. Undefined: of all owners that the person sees. */
  readonly ownerId: string | undefined;
  readonly ownerOf: (row: Row) => string;
  readonly actions?: ReactNode;
};

/** The log of deliveries. It follows what changes, and deliveries can be chosen to be sent again. */
export function DeliveryList<Row extends BackOfficeDelivery>(props: Props<Row>) {
  const { ownerId, ownerOf, actions, filters, ...rest } = props;
  const { t } = useTranslation();
  const kinds = changeableKinds(rolesOf(useMe()));
  const mayChange = ownerId === undefined ? kinds.length > 0 : kinds.includes(ownerKindOf(ownerId));
  const [chosen, choose] = useState<ReadonlyMap<string, Row>>(new Map());
  const [resent, setResent] = useState<readonly string[]>([]);
  const shown = ownerId === undefined ? resent : [ownerId];
  return (
    <ListPage<Row>
      {...rest}
      title={t("deliveries.title")}
      actions={mayChange && actions}
      above={shown.map((id) => <ResendProgress key={id} ownerId={id} mayChange={mayChange} />)}
      filters={
        <>
          {filters}
          {chosen.size > 0 && (
            <ChosenDeliveries
              chosen={Map.groupBy(chosen.values(), ownerOf)}
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
      rowTo={(row) => paths.delivery(ownerOf(row), row.id)}
      live={liveDeliveries(ownerId)}
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
  /** By owner: a resend is of one. */
  readonly chosen: ReadonlyMap<string, readonly BackOfficeDelivery[]>;
  readonly count: number;
  readonly onResent: (ownerIds: readonly string[]) => void;
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
              api.POST(ownerRoute(id, "/resends"), {
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

/** The list reads again when deliveries of its owner change, and when an attempt of one that it shows is due. */
const liveDeliveries = (ownerId: string | undefined): LiveRule<BackOfficeDelivery> => ({
  effectOf: ({ deliveriesOf }) => ({
    isChanged: ownerId === undefined ? deliveriesOf.length > 0 : deliveriesOf.includes(ownerId),
    newKeys: [],
  }),
  isDue: (rows) =>
    rows.some(
      ({ status, nextAttemptAt }) =>
        status === "pending" && (nextAttemptAt === null || Date.parse(nextAttemptAt) <= Date.now()),
    ),
});
