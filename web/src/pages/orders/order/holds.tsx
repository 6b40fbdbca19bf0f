import IconHandStop from "icon:hand-stop";
import IconHourglass from "icon:hourglass";
import { Group, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useId } from "react";
import { useTranslation } from "react-i18next";
import { useHasRole } from "../../../api/me.ts";
import type {
  Connection,
  FailedPayment,
  Hold,
  Money,
  NeededProduct,
  Order,
  OrderActionName,
} from "../../../api/schema.d.ts";
import { paths } from "../../../paths.ts";
import { countryName, formatMoney, formatNumber, formatWeight } from "../../../text/format.ts";
import { useActor, useDeclineReason, useHoldReason } from "../../../text/words.ts";
import { ButtonLink, TextLink } from "../../../ui/link.tsx";
import { Below, DataTable } from "../../../ui/list/data-table.tsx";
import { DueTime, Time } from "../../../ui/time.tsx";
import { connectionQuery } from "../../connections/queries.ts";
import { merchantQuery } from "../../merchants/queries.ts";
import { ChangeCreditLimit, RecordPayment } from "../../money/payment-actions.tsx";
import { OrderActions } from "../actions/order-actions.tsx";
import classes from "./order.module.css";

type Props = { readonly order: Order };

/** Why the order waits, and what ends it, in the first place of the page: a box for each reason. */
export function OrderHolds({ order }: Props) {
  const seesReview = useHasRole("operator", "warehouse", "merchant", "support");
  return (
    <>
      {order.status === "PROCESSING" && seesReview && (
        <WhyInReview order={order}>
          <Actions order={order} names={["approve", "reject"]} />
        </WhyInReview>
      )}
      {order.holds.map((hold) => (
        <HoldBox key={hold.reason} order={order} hold={hold} />
      ))}
    </>
  );
}

/** The actions that the boxes show: the page shows them nowhere else. Of several holds, the page releases them together. */
export const actionsInBoxes = ({ status, holds }: Order): readonly OrderActionName[] => [
  ...(status === "PROCESSING" ? (["approve", "reject"] as const) : []),
  ...(holds.length === 1 ? (["releaseHold"] as const) : []),
  ...holds.flatMap(({ products, payment, destination }) => [
    ...(products === null ? [] : (["cancelLines"] as const)),
    ...(payment === null ? [] : (["retryPayment"] as const)),
    ...(destination === null ? [] : remediesOf(destination)),
  ]),
];

type Destination = NonNullable<Hold["destination"]>;

const isTooHeavy = ({ weightGrams, maxWeightGrams }: Destination): boolean =>
  maxWeightGrams !== null && maxWeightGrams < weightGrams;

/** Another address does not make a parcel lighter. */
const remediesOf = (destination: Destination): readonly OrderActionName[] =>
  isTooHeavy(destination) ? ["cancelLines"] : ["updateShippingAddress"];

/** The actions of the order that end a hold, as far as they are possible for the person now. */
const Actions = ({ order, names }: Props & { names: readonly OrderActionName[] }) => (
  <OrderActions
    order={{ ...order, actions: order.actions.filter(({ name }) => names.includes(name)) }}
    isBeside={names.includes("retryPayment")}
  />
);

function HoldBox({ order, hold }: Props & { hold: Hold }) {
  const holdReason = useHoldReason();
  const actorOf = useActor();
  const { t } = useTranslation();
  const { reason, since, placedBy, products, payment, destination } = hold;
  return (
    <Box
      title={`${t("orders.onHold")}: ${holdReason(reason)}`}
      about={
        <>
          {t("order.heldBy", { actor: actorOf(placedBy) })} · <Time at={since} as="relative" />
        </>
      }
      hold={reason}
      actions={
        <>
          {products !== null && <Actions order={order} names={["cancelLines"]} />}
          {payment !== null && <PaymentRemedy order={order} payment={payment} />}
          {destination !== null && <AddressRemedy order={order} destination={destination} />}
          {order.holds.length === 1 && <Actions order={order} names={["releaseHold"]} />}
        </>
      }
    >
      {products !== null ? (
        <MissingStock
          products={products}
          canShipRest={order.actions.some(({ name, allowed }) => name === "cancelLines" && allowed)}
        />
      ) : payment !== null ? (
        <DeclinedPayment payment={payment} />
      ) : destination !== null ? (
        <NoRate destination={destination} />
      ) : (
        <ReleasedBy order={order} hold={hold} />
      )}
    </Box>
  );
}

type BoxProps = {
  readonly title: string;
  readonly about?: ReactNode;
  /** The reason. Absent: a review. */
  readonly hold?: string;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
};

/** What stops an order, with all that ends it. */
function Box({ title, about, hold, actions, children }: BoxProps) {
  const id = useId();
  const Icon = hold === undefined ? IconHourglass : IconHandStop;
  return (
    <section className={classes["box"]} aria-labelledby={id} data-hold={hold}>
      <Stack gap="xs">
        <Group gap="xs">
          <Icon size={18} aria-hidden />
          <Title order={2} size="h5" id={id}>
            {title}
          </Title>
          {about !== undefined && (
            <Text c="dimmed" size="xs">
              {about}
            </Text>
          )}
        </Group>
        {children}
        <Group gap="xs">{actions}</Group>
      </Stack>
    </section>
  );
}

/** A hold that a person placed, or that the person may see nothing else of. */
function ReleasedBy({ order, hold: { reason } }: Props & { hold: Hold }) {
  const { t } = useTranslation();
  const release = order.actions.find(({ name, allowed }) => name === "releaseHold" && allowed);
  const isMine =
    release !== undefined && [...release.releasedReasons, ...release.reasonsToName].includes(reason);
  return <Text size="sm">{t(isMine ? "holdHelp.release" : "holdHelp.waits")}</Text>;
}

type MissingProps = {
  readonly products: readonly NeededProduct[];
  /** What is missing can be canceled, so that the rest ships. */
  readonly canShipRest: boolean;
};

/** What is missing and where there is some. Routing gives new stock to the oldest orders first. */
function MissingStock({ products, canShipRest }: MissingProps) {
  const { t } = useTranslation();
  const mayAdjust = useHasRole("operator", "warehouse");
  const isShort = ({ needed, available }: NeededProduct) => available < needed;
  // What there is enough of needs no work. If nothing of them lacks, they lie at different facilities.
  const lacking = products.filter(isShort);
  const rows = (lacking.length > 0 ? lacking : products).flatMap((product) => {
    const [first = null, ...others] = product.facilities;
    return [first, ...others].map((at) => ({ product, at }));
  });
  return (
    <>
      {lacking.map((product) => (
        <Text key={product.productId} size="sm">
          {t("holdHelp.short", {
            name: product.name,
            needed: formatNumber(product.needed),
            available: formatNumber(product.available),
          })}
        </Text>
      ))}
      {lacking.length === 0 && (
        <Text size="sm">{t(products.length > 1 ? "holdHelp.notTogether" : "holdHelp.enough")}</Text>
      )}
      <DataTable
        label={t("holdHelp.stock")}
        rows={rows}
        rowKey={({ product, at }) => `${product.productId} ${at?.facilityId}`}
        columns={[
          {
            name: t("order.product"),
            cell: ({ product: { productId, name, sku } }) => (
              <Below text={sku}>
                <TextLink to={paths.product(productId)} inherit>
                  {name}
                </TextLink>
              </Below>
            ),
          },
          { name: t("holdHelp.needed"), align: "right", cell: ({ product }) => formatNumber(product.needed) },
          {
            name: t("holdHelp.facility"),
            cell: ({ at }) => {
              if (at === null) return t("holdHelp.nowhere");
              return at.serves ? (
                at.facilityName
              ) : (
                <Below text={t("holdHelp.notServed")}>{at.facilityName}</Below>
              );
            },
          },
          {
            name: t("holdHelp.onHand"),
            align: "right",
            cell: ({ at }) => (at === null ? "–" : formatNumber(at.onHand)),
          },
          {
            name: t("holdHelp.reserved"),
            align: "right",
            cell: ({ at }) => (at === null ? "–" : formatNumber(at.reserved)),
          },
          {
            name: t("holdHelp.available"),
            align: "right",
            cell: ({ at }) => (at === null ? "–" : formatNumber(at.available)),
          },
          ...(mayAdjust
            ? [
                {
                  name: t("tokens.actions"),
                  align: "right" as const, // Otherwise it is any text.
                  cell: ({ product: { productId }, at }: (typeof rows)[number]) => (
                    <ButtonLink
                      to={at === null ? paths.facilities() : paths.stock(at.facilityId, productId)}
                      size="compact-xs"
                      variant="default"
                    >
                      {t("stock.adjust")}
                    </ButtonLink>
                  ),
                },
              ]
            : []),
        ]}
      />
      <Text size="sm">
        {t(mayAdjust ? "holdHelp.stockForWarehouse" : "holdHelp.stockForMerchant")}
        {canShipRest && ` ${t("holdHelp.shipRest")}`}
      </Text>
    </>
  );
}

/** The sum, the reason, and when it is attempted again. */
function DeclinedPayment({ payment }: { payment: FailedPayment }) {
  const { t } = useTranslation();
  const declineReason = useDeclineReason();
  const { amount, reason, failedAt, nextAttemptAt } = payment;
  return (
    <Text size="sm">
      {t("holdHelp.declined", { amount: formatMoney(amount), reason: declineReason(reason) })}{" "}
      <Time at={failedAt} />.{" "}
      {nextAttemptAt === null ? (
        t("holdHelp.noMoreAttempts")
      ) : (
        <>
          {t("holdHelp.nextAttempt")} <DueTime at={nextAttemptAt} />.
        </>
      )}
    </Text>
  );
}

/** What this person can do about a declined payment, the most likely first. */
function PaymentRemedy({ order, payment }: Props & { payment: FailedPayment }) {
  const { t } = useTranslation();
  const isOperator = useHasRole("operator");
  const isMerchant = useHasRole("merchant");
  const seesAccount = useHasRole("operator", "merchant", "support");
  const { data: merchant } = useQuery({ ...merchantQuery(order.merchantId), enabled: isOperator });
  const isByAccount = payment.remedy === "pay_account";
  const isLeading = isOperator ? !isByAccount : isMerchant;
  return (
    <>
      {isByAccount && merchant !== undefined && (
        <>
          <RecordPayment merchant={merchant} isPrimary />
          <ChangeCreditLimit merchant={merchant} />
        </>
      )}
      {seesAccount && (
        <ButtonLink
          to={paths.merchantAccount(order.merchantId)}
          size="xs"
          variant={isLeading ? "filled" : "default"}
        >
          {t(
            isOperator && !isByAccount
              ? "holdHelp.replaceMethod"
              : isMerchant
                ? "holdHelp.howToPay"
                : "money.account",
          )}
        </ButtonLink>
      )}
      <Actions order={order} names={["retryPayment"]} />
    </>
  );
}

/** What of the address, or of the rates, keeps the order. */
function NoRate({ destination }: { destination: Destination }) {
  const { t } = useTranslation();
  const { countryCode, currency, weightGrams, maxWeightGrams } = destination;
  const country = countryName(countryCode);
  const text =
    maxWeightGrams === null
      ? t("holdHelp.noRate", { country, currency })
      : isTooHeavy(destination)
        ? t("holdHelp.tooHeavy", {
            country,
            currency,
            weight: formatWeight(weightGrams),
            most: formatWeight(maxWeightGrams),
          })
        : t("holdHelp.served", { country });
  return <Text size="sm">{text}</Text>;
}

function AddressRemedy({ order, destination }: Props & { destination: Destination }) {
  const { t } = useTranslation();
  const seesRates = useHasRole("operator", "warehouse", "support");
  return (
    <>
      <Actions order={order} names={remediesOf(destination)} />
      {seesRates && (
        <ButtonLink to={paths.facilities()} size="xs" variant="default">
          {t("holdHelp.rates")}
        </ButtonLink>
      )}
    </>
  );
}

/** The rule of the review policy that the order exceeds. */
export function WhyInReview({ order, children }: Props & { children?: ReactNode }) {
  const { t } = useTranslation();
  const { data: connection } = useQuery(connectionQuery(order.connectionId));
  const exceeded = connection === undefined ? null : reviewReasons(order, connection);
  const reasons = (exceeded ?? []).map((reason) => {
    switch (reason.rule) {
      case "quantity":
        return t("review.quantity", {
          units: formatNumber(reason.units),
          limit: formatNumber(reason.limit),
        });
      case "value":
        return t("review.value", { value: formatMoney(reason.value), limit: formatMoney(reason.limit) });
      case "country":
        return t("review.country", { country: countryName(reason.countryCode) });
      default:
        return reason satisfies never;
    }
  });
  return (
    <Box title={t("review.why")} actions={children}>
      {(exceeded?.length === 0 ? [t("review.other")] : reasons).map((reason) => (
        <Text key={reason} size="sm">
          {reason}
        </Text>
      ))}
    </Box>
  );
}

type ReviewReason =
  | { readonly rule: "quantity"; readonly units: number; readonly limit: number }
  | { readonly rule: "value"; readonly value: Money; readonly limit: Money }
  | { readonly rule: "country"; readonly countryCode: string };

/** Compares amounts of one currency without losing a cent: both have its number of decimals, or are padded to four. */
const isMore = (one: Money, other: Money): boolean => minor(one) > minor(other);

function minor({ amount }: Money): bigint {
  const [whole = "0", decimals = ""] = amount.split(".");
  return BigInt(`${whole}${decimals.padEnd(4, "0")}`);
}

/**
 * Which rules of the connection's review policy an order exceeds. It repeats `needsReview` of the service
 * (src/merchants/connection.ts) for display. Empty if a limit of the service itself was exceeded, or if the policy
 * has changed since.
 */
function reviewReasons(
  { lines, goods, shippingAddress }: Pick<Order, "lines" | "goods" | "shippingAddress">,
  { reviewPolicy: policy }: Pick<Connection, "reviewPolicy">,
): readonly ReviewReason[] {
  const units = lines.reduce((sum, { quantity }) => sum + quantity, 0);
  const { countryCode } = shippingAddress;
  const reasons: ReviewReason[] = [];
  if (policy === null) return reasons;
  const { maxQuantity, maxOrderValue, countries } = policy;
  if (maxQuantity !== null && units > maxQuantity)
    reasons.push({ rule: "quantity", units, limit: maxQuantity });
  if (goods !== null && maxOrderValue !== null && isMore(goods, maxOrderValue))
    reasons.push({ rule: "value", value: goods, limit: maxOrderValue });
  if (countries !== null && !countries.includes(countryCode)) reasons.push({ rule: "country", countryCode });
  return reasons;
}
