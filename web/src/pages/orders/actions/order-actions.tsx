import { Alert, Checkbox, Select, Stack, TextInput } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../../api/client.ts";
import { newReference } from "../../../api/reference.ts";
import type { KnownHoldReason, Order, OrderAction, OrderActionName } from "../../../api/schema.d.ts";
import { useHoldReason } from "../../../text/words.ts";
import { ConfirmAction } from "../../../ui/form/confirm-action.tsx";
import {
  ReturnFields,
  type ReturnValues,
  returnRequest,
  returnValues,
  useReturnErrors,
} from "../../returns/return-fields.tsx";
import { goodsOf } from "../../returns/returned-goods.ts";
import { AddressAction } from "./address-action.tsx";
import { RefundAction } from "./refund-action.tsx";
import {
  type ActionProps,
  ApproveAction,
  CancelAction,
  CompleteAction,
  EraseAction,
  RejectAction,
  RetryPaymentAction,
  useEffectText,
} from "./simple-actions.tsx";
import { CancelLinesAction, ShipAction } from "./units-actions.tsx";

/** All actions in the order in which they are shown: first what moves the order on. */
const ACTIONS: Readonly<Record<OrderActionName, (props: ActionProps) => React.ReactNode>> = {
  approve: ApproveAction,
  ship: ShipAction,
  complete: CompleteAction,
  retryPayment: RetryPaymentAction,
  releaseHold: ReleaseHoldAction,
  hold: HoldAction,
  returnShipment: ReturnAction,
  updateShippingAddress: AddressAction,
  refund: RefundAction,
  cancelLines: CancelLinesAction,
  reject: RejectAction,
  cancel: CancelAction,
  erasePersonalData: EraseAction,
};
const PRIMARY: readonly OrderActionName[] = ["approve", "ship", "complete", "retryPayment"];

type OrderActionsProps = {
  readonly order: Order;
  /** They stand beside one that most people want more. */
  readonly isBeside?: boolean;
};

/** The person's actions on the order now. The lifecycle has decided it; this only shows it. */
export function OrderActions({ order, isBeside = false }: OrderActionsProps) {
  const allowed = new Map(order.actions.filter((each) => each.allowed).map((each) => [each.name, each]));
  const shown = Object.entries(ACTIONS).flatMap(([name, Action]) => {
    const action = allowed.get(name as OrderActionName); // The names of the record.
    return action === undefined ? [] : [{ action, Action }];
  });
  const primary = isBeside ? undefined : shown.find(({ action }) => PRIMARY.includes(action.name))?.action;
  return shown.map(({ action, Action }) => (
    <Action key={action.name} order={order} action={action} isPrimary={isSame(action, primary)} />
  ));
}

const isSame = (action: OrderAction, primary: OrderAction | undefined): boolean =>
  action.name === primary?.name;

/** The known reasons for which people hold an order. The service itself finds that a payment failed. */
const PLACED_REASONS = [
  "merchant_request",
  "address_unserviceable",
  "out_of_stock",
] as const satisfies readonly KnownHoldReason[];
const OTHER = "other";

type HoldValues = { reason: string; other: string };

/** Stops an order. The reasons are open, and the partner's program sees them: others are typed. */
function HoldAction({ order, action }: ActionProps) {
  const { t } = useTranslation();
  const effectOf = useEffectText();
  const holdReason = useHoldReason();
  return (
    <ConfirmAction<HoldValues>
      label={t("orderActions.hold")}
      shortcut="h"
      effect={effectOf(action)}
      done={t("orderActions.held")}
      initialValues={{ reason: "merchant_request", other: "" }}
      validate={({ reason, other }) =>
        reason === OTHER && other.trim() === "" ? { other: t("ui.required") } : {}
      }
      fields={(form) => (
        <Stack gap="sm">
          <Select
            label={t("order.reason")}
            description={t("orderActions.holdReasonHelp")}
            data={[
              ...PLACED_REASONS.map((value) => ({ value, label: holdReason(value) })),
              { value: OTHER, label: t("orderActions.otherReason") },
            ]}
            allowDeselect={false}
            data-autofocus
            {...form.getInputProps("reason")}
          />
          {form.values.reason === OTHER && (
            <TextInput
              label={t("orderActions.otherReason")}
              description={t("orderActions.otherReasonHelp")}
              maxLength={100}
              required
              {...form.getInputProps("other")}
            />
          )}
        </Stack>
      )}
      run={({ reason, other }) =>
        dataOf(
          api.POST("/api/orders/{id}/hold", {
            params: { path: { id: order.id } },
            body: { reasons: [reason === OTHER ? other.trim() : reason] },
          }),
        )
      }
    />
  );
}

type ReleaseHoldValues = { reasons: string[] };

/**
 * Releases the chosen reasons. What must be named is chosen by the person, not by the dialog
 * (docs/design/lifecycle.md, "Possible transitions").
 */
function ReleaseHoldAction({ order, action }: ActionProps) {
  const { t } = useTranslation();
  const effectOf = useEffectText();
  const holdReason = useHoldReason();
  const { releasedReasons, reasonsToName } = action;
  const isReleasable = (reason: string) => releasedReasons.includes(reason) || reasonsToName.includes(reason);
  return (
    <ConfirmAction<ReleaseHoldValues>
      label={t("orderActions.releaseHold")}
      effect={({ reasons }) => effectOf(afterRelease(order, reasons))}
      done={t("orderActions.released")}
      initialValues={{ reasons: releasedReasons }}
      validate={({ reasons }) => (reasons.length === 0 ? { reasons: t("orderActions.chooseReason") } : {})}
      fields={(form) => (
        <Stack gap="sm">
          <Checkbox.Group label={t("orderActions.reasons")} {...form.getInputProps("reasons")}>
            <Stack gap={6} mt={4}>
              {order.onHoldReasons.map((reason) => (
                <Checkbox
                  key={reason}
                  value={reason}
                  label={holdReason(reason)}
                  {...(!isReleasable(reason) && {
                    disabled: true,
                    description: t("orderActions.notReleasable"),
                  })}
                />
              ))}
            </Stack>
          </Checkbox.Group>
          {form.values.reasons.some((reason) => reasonsToName.includes(reason)) && (
            <Alert color="orange" variant="light">
              {t("orderEffects.waive_payment")}
            </Alert>
          )}
        </Stack>
      )}
      run={(body) =>
        dataOf(api.POST("/api/orders/{id}/release-hold", { params: { path: { id: order.id } }, body }))
      }
    />
  );
}

/** What follows from the release of these reasons, as the lifecycle decides it (docs/back-office.md, "Follow an order"). */
function afterRelease(
  { onHoldReasons }: Order,
  chosen: readonly string[],
): Pick<OrderAction, "effect" | "eventTypes"> {
  if (onHoldReasons.every((reason) => chosen.includes(reason)))
    return { effect: "continue", eventTypes: ["order.onHoldReleased"] };
  return { effect: "release_some", eventTypes: chosen.length === 0 ? [] : ["order.onHold"] };
}

type ParcelReturn = ReturnValues & {
  shipmentId: string | null;
  reference: string;
  /** If the person names none: a retry after a lost response is the same return. */
  ownReference: string;
};

/** Records that a shipment came back, or some units of it. */
function ReturnAction({ order, action }: ActionProps) {
  const { t } = useTranslation();
  const effectOf = useEffectText();
  const errorsOf = useReturnErrors();
  // Numbered before those are left out that came back, so that each keeps its number.
  const out = order.shipments
    .map((shipment, index) => ({ ...shipment, number: index + 1 }))
    .filter(({ status }) => status !== "returned" && status !== "voided");
  const nameOf = ({ number, trackingNumber }: (typeof out)[number]) =>
    [t("orderActions.shipmentNumber", { number }), trackingNumber].filter(Boolean).join(" · ");
  const linesIn = ({ shipmentId }: ParcelReturn) =>
    order.lines.filter((line) => line.shipmentId !== null && line.shipmentId === shipmentId);
  return (
    <ConfirmAction<ParcelReturn>
      label={t("orderActions.return")}
      // The partner is informed when all of a shipment is back.
      effect={(values) =>
        effectOf(
          goodsOf({ lines: linesIn(values) }, values.counts)?.lines === undefined
            ? action
            : { ...action, eventTypes: [] },
        )
      }
      done={t("orderActions.returned")}
      initialValues={{
        ...returnValues(order.lines),
        shipmentId: out.at(-1)?.id ?? null,
        reference: "",
        ownReference: newReference("console"),
      }}
      validate={(values) => errorsOf(linesIn(values), values)}
      fields={(form) => (
        <Stack gap="sm">
          <Select
            label={t("order.shipment")}
            data={out.map((shipment) => ({ value: shipment.id, label: nameOf(shipment) }))}
            allowDeselect={false}
            data-autofocus
            {...form.getInputProps("shipmentId")}
          />
          <ReturnFields lines={linesIn(form.values)} form={form} />
          <TextInput
            label={t("orderActions.reference")}
            description={t("orderActions.returnReferenceHelp")}
            maxLength={255}
            {...form.getInputProps("reference")}
          />
        </Stack>
      )}
      run={(values) => {
        const reference = values.reference.trim() || values.ownReference;
        const body = { reference, ...returnRequest(linesIn(values), values) };
        return dataOf(api.POST("/api/orders/{id}/return", { params: { path: { id: order.id } }, body }));
      }}
    />
  );
}
