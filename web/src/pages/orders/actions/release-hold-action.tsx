import { Alert, Checkbox, Stack } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../../api/client.ts";
import type { Order, OrderAction } from "../../../api/schema.d.ts";
import { ConfirmAction } from "../../../ui/form/confirm-action.tsx";
import { useHoldReason } from "../hold-reason.ts";
import { type ActionProps, useEffectText } from "./effect.ts";

type Values = { reasons: string[] };

/**
 * Releases the chosen reasons. What must be named is chosen by the person, not by the dialog
 * (docs/design/lifecycle.md, "Possible transitions").
 */
export function ReleaseHoldAction({ order, action }: ActionProps) {
  const { t } = useTranslation();
  const effectOf = useEffectText();
  const holdReason = useHoldReason();
  const { releasedReasons, reasonsToName } = action;
  const isReleasable = (reason: string) => releasedReasons.includes(reason) || reasonsToName.includes(reason);
  return (
    <ConfirmAction<Values>
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
