import { Alert, List, Stack, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import { useHasRole } from "../../api/me.ts";
import type { OrderSummary } from "../../api/schema.d.ts";
import { formatNumber } from "../../text/format.ts";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { SelectionBar } from "../../ui/list/selection-bar.tsx";
import { useProblemText } from "../../ui/problem-message.tsx";

type Props = {
  /** By their ids. */
  readonly chosen: ReadonlyMap<string, OrderSummary>;
  readonly choose: (chosen: ReadonlyMap<string, OrderSummary>) => void;
};

const pathOf = (id: string) => ({ params: { path: { id } } });

const ACTIONS = {
  hold: (id: string) => api.POST("/api/orders/{id}/hold", pathOf(id)),
  releaseHold: (id: string) => api.POST("/api/orders/{id}/release-hold", pathOf(id)),
  retryPayment: (id: string) => api.POST("/api/orders/{id}/retry-payment", pathOf(id)),
} as const;
type BulkAction = keyof typeof ACTIONS;

type Progressed = { readonly done: number; readonly of: number };
type Rejected = { readonly name: string; readonly why: string };

/**
 * One action on all chosen orders, one after the other. Each order decides for itself: those that reject it stay chosen, with
 * the reason, and the others are done.
 */
export function BulkActions({ chosen, choose }: Props) {
  const { t } = useTranslation();
  const textOf = useProblemText();
  const queryClient = useQueryClient();
  const charges = useHasRole("operator", "merchant");
  const [progress, setProgress] = useState<Progressed | null>(null);
  const [rejected, setRejected] = useState<readonly Rejected[]>([]);
  const run = async (action: BulkAction): Promise<void> => {
    const orders = [...chosen.values()];
    const left = new Map(chosen);
    const problems: Rejected[] = [];
    for (const [done, order] of orders.entries()) {
      setProgress({ done, of: orders.length });
      try {
        await dataOf(ACTIONS[action](order.id));
        left.delete(order.id);
      } catch (error) {
        problems.push({ name: order.externalOrderId ?? order.id, why: textOf(error) });
      }
    }
    setProgress(null);
    setRejected(problems);
    choose(left);
    await queryClient.invalidateQueries({ queryKey: ["/api/orders"] });
  };
  const actions: readonly BulkAction[] = [
    "hold",
    "releaseHold",
    ...(charges ? ["retryPayment" as const] : []),
  ];
  const close = () => {
    setRejected([]);
    choose(new Map());
  };
  if (chosen.size === 0) return null;
  return (
    <Stack gap="xs">
      <SelectionBar text={t("bulk.chosen", { count: chosen.size })} clear={close}>
        {actions.map((action) => (
          <ConfirmAction
            key={action}
            label={t(`orderActions.${action}`)}
            effect={
              <>
                <Text size="sm">{t(`bulk.effects.${action}`, { count: chosen.size })}</Text>
                {progress !== null && (
                  <progress
                    value={progress.done}
                    max={progress.of}
                    style={{ width: "100%" }}
                    aria-label={t("bulk.progress", {
                      done: formatNumber(progress.done),
                      of: formatNumber(progress.of),
                    })}
                  />
                )}
              </>
            }
            run={() => run(action)}
          />
        ))}
      </SelectionBar>
      {rejected.length > 0 && (
        <Alert
          color="yellow"
          role="alert"
          title={t("bulk.rejected", { count: rejected.length })}
          withCloseButton
          closeButtonLabel={t("ui.close")}
          onClose={() => setRejected([])}
        >
          <List size="sm">
            {rejected.map(({ name, why }) => (
              <List.Item key={name}>
                {name}: {why}
              </List.Item>
            ))}
          </List>
        </Alert>
      )}
    </Stack>
  );
}
