import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import type { PackingSlip } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { countryName, formatNumber, shortDay } from "../../text/format.ts";
import { Crumbs, Page } from "../../ui/page.tsx";
import { Barcode } from "../../ui/scan/barcode.tsx";
import classes from "../../ui/scan/paper.module.css";
import { PrintButton } from "../../ui/scan/print-button.tsx";
import { slipQuery } from "./queries.ts";
import { useReturnReason } from "./return-reason.ts";

const route = getRouteApi("/signed-in/work/slips/$orderId");

/** The packing slip and the return slip of a parcel, without prices. */
export function SlipsPage() {
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

type Props = { readonly slip: PackingSlip };

const addressOf = ({ shippingAddress: to }: PackingSlip): string =>
  [
    to.name,
    to.company,
    to.address1,
    to.address2,
    [to.zip, to.city].filter(Boolean).join(" "),
    to.stateCode,
    countryName(to.countryCode),
  ]
    .filter(Boolean)
    .join("\n");

function PackingSheet({ slip }: Props) {
  const { t } = useTranslation();
  return (
    <section className={classes["paper"]} aria-label={t("slips.packing")}>
      <div className={classes["head"]}>
        <div>
          <h2>{t("slips.packing")}</h2>
          <div>{slip.merchantName}</div>
          <div>{shortDay(new Date(slip.createdAt))}</div>
          {slip.carrier !== null && (
            <div>{[slip.carrier, slip.trackingNumber].filter(Boolean).join(" · ")}</div>
          )}
        </div>
        <Barcode of={slip.orderId} />
      </div>
      <address className={classes["address"]} style={{ marginTop: "8mm" }}>
        {addressOf(slip)}
      </address>
      <Lines slip={slip} />
      {slip.note !== null && <p style={{ whiteSpace: "pre-line" }}>{slip.note}</p>}
    </section>
  );
}

function ReturnSheet({ slip }: Props) {
  const { t } = useTranslation();
  const reasonOf = useReturnReason();
  return (
    <section className={classes["paper"]} aria-label={t("slips.return")}>
      <div className={classes["head"]}>
        <div>
          <h2>{t("slips.return")}</h2>
          <div>{t("slips.returnHelp")}</div>
        </div>
        <Barcode of={slip.orderId} />
      </div>
      {slip.facility !== null && (
        <p>
          {t("slips.returnTo")} {slip.facility.name}, {countryName(slip.facility.countryCode)}
        </p>
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

function Lines({ slip, isReturn = false }: Props & { isReturn?: boolean }) {
  const { t } = useTranslation();
  return (
    <table>
      <thead>
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
            <td>{sku}</td>
            <td>{name}</td>
            <td data-number>{formatNumber(quantity)}</td>
            {isReturn && <td data-number>______</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
