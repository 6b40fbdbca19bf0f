import type { Order, OrderAction, OrderActionName } from "../../../api/schema.d.ts";
import { AddressAction } from "./address-action.tsx";
import type { ActionProps } from "./effect.ts";
import { HoldAction } from "./hold-action.tsx";
import { RefundAction } from "./refund-action.tsx";
import { ReleaseHoldAction } from "./release-hold-action.tsx";
import { ReturnAction } from "./return-action.tsx";
import { ShipAction } from "./ship-action.tsx";
import {
  ApproveAction,
  CancelAction,
  CompleteAction,
  EraseAction,
  RejectAction,
  RetryPaymentAction,
} from "./simple-actions.tsx";

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
  reject: RejectAction,
  cancel: CancelAction,
  erasePersonalData: EraseAction,
};
const PRIMARY: readonly OrderActionName[] = ["approve", "ship", "complete", "retryPayment"];

/** The person's actions on the order now. The lifecycle has decided it; this only shows it. */
export function OrderActions({ order }: { order: Order }) {
  const allowed = new Map(order.actions.filter((each) => each.allowed).map((each) => [each.name, each]));
  const shown = Object.entries(ACTIONS).flatMap(([name, Action]) => {
    const action = allowed.get(name as OrderActionName); // The names of the record.
    return action === undefined ? [] : [{ action, Action }];
  });
  const primary = shown.find(({ action }) => PRIMARY.includes(action.name))?.action;
  return shown.map(({ action, Action }) => (
    <Action key={action.name} order={order} action={action} isPrimary={isSame(action, primary)} />
  ));
}

const isSame = (action: OrderAction, primary: OrderAction | undefined): boolean =>
  action.name === primary?.name;
