import { useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../../api/client.ts";
import type { Connection, TestOrder, TransitionRequest } from "../../../api/schema.d.ts";
import { useChange } from "../../../api/use-change.ts";
import { Section } from "../../../ui/section.tsx";
import { transitionOf } from "../code/partner-request.ts";
import { testOrderQuery } from "../queries.ts";
import { LifecycleChart } from "./lifecycle-chart.tsx";
import { TransitionList } from "./transition-list.tsx";
import type { ApplyTransition } from "./transition-text.ts";
import { useSteps } from "./use-steps.ts";

type Props = {
  readonly connection: Connection;
  readonly testOrder: TestOrder;
  readonly mayChange: boolean;
};

/** The picture of the lifecycle with its buttons, and what each does, or which rule forbids it. */
export function LifecycleSection({ connection, testOrder, mayChange }: Props) {
  const { t } = useTranslation();
  const apply = useTransition(connection.id, testOrder);
  const change = useChange({
    run: (body: TransitionRequest) => apply(body),
    done: ({ order }) => t("sandbox.applied", { status: t(`status.order.${order.status}`) }),
  });
  return (
    <Section title={t("sandbox.lifecycle")}>
      <LifecycleChart
        testOrder={testOrder}
        mayChange={mayChange}
        pending={change.isPending ? (change.variables?.transition ?? null) : null}
        onTransition={(transition) => change.mutate({ transition })}
      />
      <TransitionList connection={connection} testOrder={testOrder} mayChange={mayChange} apply={apply} />
    </Section>
  );
}

/** Applies a transition, shows the order as it is afterwards, and records the step. */
function useTransition(connectionId: string, { order }: TestOrder): ApplyTransition {
  const client = useQueryClient();
  const [, addStep] = useSteps(order.id);
  return async (body) => {
    const params = { path: { id: connectionId, orderId: order.id } };
    const after = await dataOf(
      api.POST("/api/connections/{id}/test-orders/{orderId}/transitions", { params, body }),
    );
    client.setQueryData(testOrderQuery(connectionId, order.id).queryKey, after);
    addStep({ name: body.transition, at: new Date().toISOString(), request: transitionOf(order.id, body) });
    return after;
  };
}
