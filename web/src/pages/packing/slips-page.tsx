import { Text } from "@mantine/core";
import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Fragment } from "react";
import { useTranslation } from "react-i18next";
import type { PackingSlip } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { countryName, formatNumber, shortDay } from "../../text/format.ts";
import { AddressLines, SenderLines } from "../../ui/address.tsx";
import { Crumbs, Page } from "../../ui/page.tsx";
import { Barcode, PrintButton } from "../../ui/scan/barcode.tsx";
import classes from "../../ui/scan/paper.module.css";
import { commandCode } from "../../ui/scan/read-scan.ts";
import { RETURN_REASONS } from "../returns/returned-goods.ts";
import { CHOICE, CHOICES_MAX, COMMANDS, type Command } from "./packing.ts";
import { slipQuery, slipsQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/work/slips/$orderId");

/** The packing slip and the return slip of a parcel, without prices. */
export function OrderSlipsPage() {
  const { t } = useTranslation();
  const { orderId } = route.useParams();
  const { shipmentId } = route.useSearch();
  const { data: slip } = useSuspenseQuery(slipQuery(orderId, shipmentId));
  return (
    <Page
      title={t("slips.title", { order: slip.externalOrderId ?? slip.orderId })}
      crumbs={
        <Crumbs
          of={[
            [t("work.title"), paths.work()],
            [slip.externalOrderId ?? slip.orderId, paths.order(orderId)],
          ]}
        />
      }
      actions={<PrintButton />}
    >
      <div data-papers>
        <PackingSheet slip={slip} />
        <ReturnSheet slip={slip} />
      </div>
    </Page>
  );
}

const listRoute = getRouteApi("/signed-in/work/pick-lists/$pickListId/slips");

/** The slips of all orders of a pick list, to print them at once. */
export function PickListSlipsPage() {
  const { t } = useTranslation();
  const { pickListId } = listRoute.useParams();
  const { data } = useSuspenseQuery(slipsQuery(pickListId));
  const { slips } = data;
  return (
    <Page
      title={t("slips.titleOfList")}
      about={slips.length === 0 ? undefined : t("slips.orders", { count: slips.length })}
      crumbs={
        <Crumbs
          of={[
            [t("work.title"), paths.work()],
            [t("pickList.sheet"), paths.pickList(pickListId)],
          ]}
        />
      }
      actions={slips.length > 0 && <PrintButton />}
    >
      {slips.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t("pickList.nothing")}
        </Text>
      ) : (
        <div data-papers>
          {slips.map((slip) => (
            <Fragment key={slip.orderId}>
              <PackingSheet slip={slip} isNamed />
              <ReturnSheet slip={slip} isNamed />
            </Fragment>
          ))}
        </div>
      )}
    </Page>
  );
}

type Props = {
  readonly slip: PackingSlip;
  /** There are slips of other orders on the page. */
  readonly isNamed?: boolean;
};

/** The title of a slip, for readers who do not see it. */
const labelOf = (kind: string, { slip, isNamed = false }: Props): string =>
  isNamed ? `${kind}: ${slip.externalOrderId ?? slip.orderId}` : kind;

export function PackingSheet(props: Props) {
  const { t } = useTranslation();
  const { slip } = props;
  return (
    <section className={classes["paper"]} aria-label={labelOf(t("slips.packing"), props)}>
      <div className={classes["head"]}>
        <div>
          <h2>{t("slips.packing")}</h2>
          {slip.externalOrderId !== null && (
            <div>
              {t("slips.order")} {slip.externalOrderId}
            </div>
          )}
          {slip.box !== null && (
            <div>
              <strong>{t("station.box", { box: formatNumber(slip.box) })}</strong>
            </div>
          )}
          <div>{slip.merchantName}</div>
          <div>{shortDay(new Date(slip.createdAt))}</div>
          {slip.carrier !== null && (
            <div>{[slip.carrier, slip.trackingNumber].filter(Boolean).join(" · ")}</div>
          )}
          {slip.facility !== null && slip.facility.address !== null && (
            <div style={{ marginTop: "3mm" }}>
              <div>{t("slips.sender")}</div>
              <Sender of={slip.facility} merchantName={slip.merchantName} />
            </div>
          )}
        </div>
        <Barcode of={slip.orderId} />
      </div>
      <address className={classes["address"]} style={{ marginTop: "8mm" }}>
        <AddressLines of={slip.shippingAddress} />
      </address>
      <Lines slip={slip} />
      {slip.note !== null && <p style={{ whiteSpace: "pre-line" }}>{slip.note}</p>}
    </section>
  );
}

export function ReturnSheet(props: Props) {
  const { t } = useTranslation();
  const { slip } = props;
  const reasonOf = useReturnReason();
  return (
    <section className={classes["paper"]} aria-label={labelOf(t("slips.return"), props)}>
      <div className={classes["head"]}>
        <div>
          <h2>{t("slips.return")}</h2>
          {slip.externalOrderId !== null && (
            <div>
              {t("slips.order")} {slip.externalOrderId}
            </div>
          )}
          <div>{t("slips.returnHelp")}</div>
        </div>
        <Barcode of={slip.orderId} />
      </div>
      {slip.facility !== null && (
        <>
          <p>{t("slips.returnTo")}</p>
          <address className={classes["address"]}>
            <Sender of={slip.facility} merchantName={slip.merchantName} />
          </address>
        </>
      )}
      <Lines slip={slip} isReturn />
      <p>{t("slips.why")}</p>
      <ul className={classes["choices"]}>
        {slip.returnReasons.map((reason) => (
          <li key={reason}>
            <span className={classes["box"]} /> {reasonOf(reason)}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The facility sends for the merchant, whose parcel it recognizes by the name. */
function Sender({ of, merchantName }: { of: NonNullable<PackingSlip["facility"]>; merchantName: string }) {
  const { name, countryCode, address } = of;
  if (address === null)
    return (
      <>
        <div>{name}</div>
        <div>{countryName(countryCode)}</div>
      </>
    );
  const site = { ...address, company: address.company ?? name };
  return <SenderLines name={merchantName} countryCode={countryCode} address={site} />;
}

/** A reason of a return in words. One that is not known is shown as it is. */
function useReturnReason(): (reason: string) => string {
  const { t } = useTranslation();
  return (reason) => {
    const known = RETURN_REASONS.find((each) => each === reason);
    return known === undefined ? reason : t(`returnReasons.${known}`);
  };
}

function Lines({ slip, isReturn = false }: Props & { isReturn?: boolean }) {
  const { t } = useTranslation();
  return (
    <table>
      <thead>
        <tr className={classes["name"]}>
          <th colSpan={isReturn ? 4 : 3}>{slip.externalOrderId ?? slip.orderId}</th>
        </tr>
        <tr>
          <th>{t("stock.sku")}</th>
          <th>{t("order.product")}</th>
          <th data-number>{t("order.quantity")}</th>
          {isReturn && <th data-number>{t("slips.sentBack")}</th>}
        </tr>
      </thead>
      <tbody>
        {slip.lines.map(({ id, sku, name, quantity }) => (
          <tr key={id}>
            <td data-sku>{sku}</td>
            <td>{name}</td>
            <td data-number>{formatNumber(quantity)}</td>
            {isReturn && <td data-number>______</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Barcodes of what the packing table can do, to be printed once and to hang beside the table. */
export function CommandsPage() {
  const { t } = useTranslation();
  const commands = Object.entries(COMMANDS) as [Command, number][];
  const choices = Array.from({ length: CHOICES_MAX }, (_, index) => index + 1);
  return (
    <Page
      title={t("commands.title")}
      about={t("commands.about")}
      crumbs={
        <Crumbs
          of={[
            [t("work.title"), paths.work()],
            [t("station.title"), paths.station()],
          ]}
        />
      }
      actions={<PrintButton />}
    >
      <div data-papers>
        <section className={classes["paper"]} aria-label={t("commands.sheet")}>
          <h2>{t("commands.sheet")}</h2>
          <ul className={classes["commands"]}>
            {commands.map(([command, number]) => (
              <li key={command}>
                <Barcode of={commandCode(number)} name={t(`commands.${command}`)} />
              </li>
            ))}
            {choices.map((number) => (
              <li key={number}>
                <Barcode
                  of={commandCode(CHOICE + number)}
                  name={t("commands.choice", { number: formatNumber(number) })}
                />
              </li>
            ))}
          </ul>
        </section>
      </div>
    </Page>
  );
}
