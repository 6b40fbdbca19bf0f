import { Textarea } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../../api/client.ts";
import type { Order, OrderAction } from "../../../api/schema.d.ts";
import { ConfirmAction } from "../../../ui/form/confirm-action.tsx";
import { filled } from "../../../ui/form/use-api-form.ts";

const pathOf = ({ id }: { id: string }) => ({ params: { path: { id } } });

type Reason = { readonly reason: string };
export const NO_REASON: Reason = { reason: "" };

/** Why, for the timeline. */
export const ReasonField = ({ form }: { form: UseFormReturnType<Reason> }) => {
  const { t } = useTranslation();
  return (
    <Textarea
      label={t("orderActions.reason")}
      description={t("orderActions.reasonHelp")}
      maxLength={1_000}
      autosize
      minRows={2}
      data-autofocus
      {...form.getInputProps("reason")}
    />
  );
};

export function ApproveAction({ order, action, isPrimary }: ActionProps) {
  const { t } = useTranslation();
  const effectOf = useEffectText();
  return (
    <ConfirmAction
      label={t("orderActions.approve")}
      shortcut="a"
      effect={effectOf(action)}
      done={t("orderActions.approved")}
      isPrimary={isPrimary}
      initialValues={NO_REASON}
      fields={(form) => <ReasonField form={form} />}
      run={(values) =>
        dataOf(api.POST("/api/orders/{id}/approve", { ...pathOf(order), body: filled(values) }))
      }
    />
  );
}

export function RejectAction({ order, action }: ActionProps) {
  const { t } = useTranslation();
  const effectOf = useEffectText();
  return (
    <ConfirmAction
      label={t("orderActions.reject")}
      effect={effectOf(action)}
      done={t("orderActions.rejected")}
      isDanger
      initialValues={NO_REASON}
      fields={(form) => <ReasonField form={form} />}
      run={(values) =>
        dataOf(api.POST("/api/orders/{id}/reject", { ...pathOf(order), body: filled(values) }))
      }
    />
  );
}

export function CancelAction({ order, action }: ActionProps) {
  const { t } = useTranslation();
  const effectOf = useEffectText();
  return (
    <ConfirmAction
      label={t("orderActions.cancel")}
      effect={effectOf(action)}
      done={t("orderActions.canceled")}
      isDanger
      initialValues={NO_REASON}
      fields={(form) => <ReasonField form={form} />}
      run={(values) =>
        dataOf(api.POST("/api/orders/{id}/cancel", { ...pathOf(order), body: filled(values) }))
      }
    />
  );
}

export function CompleteAction({ order, action, isPrimary }: ActionProps) {
  const { t } = useTranslation();
  const effectOf = useEffectText();
  return (
    <ConfirmAction
      label={t("orderActions.complete")}
      effect={effectOf(action)}
      done={t("orderActions.completed")}
      isPrimary={isPrimary}
      run={() => dataOf(api.POST("/api/orders/{id}/complete", pathOf(order)))}
    />
  );
}

export function RetryPaymentAction({ order, action, isPrimary }: ActionProps) {
  const { t } = useTranslation();
  const effectOf = useEffectText();
  return (
    <ConfirmAction
      // To charge and to pay a refund again are two actions of one name (docs/design/console.md, "Dialogs").
      key={action.effect}
      label={t("orderActions.retryPayment")}
      effect={effectOf(action)}
      done={t("orderActions.retried")}
      isPrimary={isPrimary}
      run={() => dataOf(api.POST("/api/orders/{id}/retry-payment", pathOf(order)))}
    />
  );
}

export function EraseAction({ order, action }: ActionProps) {
  const { t } = useTranslation();
  const effectOf = useEffectText();
  return (
    <ConfirmAction
      label={t("orderActions.erase")}
      effect={effectOf(action)}
      done={t("orderActions.erased")}
      isDanger
      run={() => dataOf(api.POST("/api/orders/{id}/erase-personal-data", pathOf(order)))}
    />
  );
}

export type ActionProps = {
  readonly order: Order;
  readonly action: OrderAction;
  /** The one that most people want now. */
  readonly isPrimary: boolean;
};

/** What an action does, and what the partner learns of it. */
export function useEffectText(): (action: Pick<OrderAction, "effect" | "eventTypes">) => string {
  const { t } = useTranslation();
  return ({ effect, eventTypes }) => {
    const sentence = t(`orderEffects.${effect}`);
    return eventTypes.length === 0
      ? sentence
      : `${sentence} ${t("orderActions.events", { events: eventTypes.join(", ") })}`;
  };
}
