import { Button, Group, Select, Stack, TagsInput, Text, Tooltip, VisuallyHidden } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import type { CSSProperties } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import type {
  Connection,
  OrderStatus,
  PartnerOrder,
  PossibleTransition,
  TestOrder,
  TransitionRequest,
} from "../../api/schema.d.ts";
import { useChange } from "../../api/use-change.ts";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { filled } from "../../ui/form/use-api-form.ts";
import { Section } from "../../ui/page.tsx";
import { Pill } from "../../ui/status-badge.tsx";
import { ShipFields, type ShipValues } from "../orders/actions/ship-fields.tsx";
import { CodeActions } from "./code-actions.tsx";
import { type TransitionName, useSteps } from "./memory.ts";
import { transitionOf } from "./partner-request.ts";
import { testOrderQuery } from "./queries.ts";
import classes from "./test-order.module.css";

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
    const { transition } = body;
    addStep({ transition, at: new Date().toISOString(), request: transitionOf(order.id, body) });
    return after;
  };
}

type LifecycleChartProps = {
  readonly testOrder: TestOrder;
  readonly mayChange: boolean;
  /** The transition that is being applied. */
  readonly pending: TransitionName | null;
  readonly onTransition: (transition: TransitionName) => void;
};

type Part =
  | { readonly state: OrderStatus | "ON_HOLD" }
  | { readonly edge: TransitionName; readonly back?: TransitionName };

/** In the order of an order's life, which is that of the Tab key and of a narrow screen. The style sheet places them. */
const PARTS: readonly Part[] = [
  { state: "NEW" },
  { edge: "process" },
  { state: "PROCESSING" },
  { edge: "accept" },
  { state: "ACCEPTED" },
  { edge: "hold", back: "releaseHold" },
  { state: "ON_HOLD" },
  { edge: "ship" },
  { state: "IN_PROGRESS" },
  { edge: "complete" },
  { state: "COMPLETED" },
  { edge: "returnShipment" },
  { state: "RETURNED" },
  { edge: "cancel" },
  { state: "CANCELED" },
];

/** Where the style sheet places a part. It has areas with these names. */
const areaOf = (part: string) => ({ "--area": part }) as CSSProperties; // React has no types for variables.

/** The states of an order, and the transitions between them as buttons. */
function LifecycleChart({ testOrder, mayChange, pending, onTransition }: LifecycleChartProps) {
  const { t } = useTranslation();
  const { order, transitions } = testOrder;
  const buttonOf = (name: TransitionName) => {
    const transition = transitions.find((each) => each.transition === name);
    return (
      transition && (
        <TransitionButton
          key={name}
          transition={transition}
          isEnabled={mayChange && transition.isPossible && transition.changes}
          isPending={pending === name}
          onApply={() => pending === null && onTransition(name)}
        />
      )
    );
  };
  return (
    <section className={classes["frame"]} aria-label={t("sandbox.picture")}>
      <div className={classes["chart"]}>
        {PARTS.map((part) =>
          "state" in part ? (
            <State
              key={part.state}
              state={part.state}
              isCurrent={part.state === "ON_HOLD" ? order.onHold : part.state === order.status}
            />
          ) : (
            <div key={part.edge} className={classes["edge"]} data-edge={part.edge} style={areaOf(part.edge)}>
              {buttonOf(part.edge)}
              {part.back !== undefined && buttonOf(part.back)}
            </div>
          ),
        )}
        <div className={classes["elbow"]} />
      </div>
    </section>
  );
}

function State({ state, isCurrent }: { state: OrderStatus | "ON_HOLD"; isCurrent: boolean }) {
  const { t } = useTranslation();
  return (
    <div
      className={classes["state"]}
      data-state={state}
      data-current={isCurrent}
      style={areaOf(state)}
      {...(isCurrent && { "aria-current": "step" })}
    >
      {state === "ON_HOLD" ? t("orders.onHold") : t(`status.order.${state}`)}
      {isCurrent && <VisuallyHidden> ({t("sandbox.current")})</VisuallyHidden>}
    </div>
  );
}

type ButtonProps = {
  readonly transition: PossibleTransition;
  readonly isEnabled: boolean;
  readonly isPending: boolean;
  readonly onApply: () => void;
};

/** A button that is not possible stays in the Tab order, so that its rule can be read. */
function TransitionButton({ transition, isEnabled, isPending, onApply }: ButtonProps) {
  const { t } = useTranslation();
  const textOf = useTransitionText();
  const { transition: name } = transition;
  return (
    <Tooltip
      label={textOf(transition)}
      multiline
      maw={260}
      openDelay={200}
      events={{ hover: true, focus: true, touch: true }}
    >
      <Button
        size="compact-xs"
        variant={isEnabled ? "filled" : "default"}
        className={classes["button"] ?? ""}
        aria-disabled={!isEnabled}
        aria-describedby={sentenceId(name)}
        aria-busy={isPending}
        onClick={() => isEnabled && onApply()}
      >
        {t(`sandbox.transitions.${name}`)}
      </Button>
    </Tooltip>
  );
}

type TransitionListProps = {
  readonly connection: Connection;
  readonly testOrder: TestOrder;
  readonly mayChange: boolean;
  readonly apply: ApplyTransition;
};

/** Each transition in a sentence, with the fields that it may have, and the partner's request for it. */
function TransitionList({ connection, testOrder, mayChange, apply }: TransitionListProps) {
  const { t } = useTranslation();
  return (
    <ul className={classes["list"]} aria-label={t("sandbox.transitionsTitle")}>
      {testOrder.transitions.map((transition) => (
        <li key={transition.transition} className={classes["item"]}>
          <Sentence transition={transition} />
          <Group gap={4} wrap="nowrap">
            {mayChange && transition.isPossible && (
              <TransitionOptions order={testOrder.order} name={transition.transition} apply={apply} />
            )}
            <CodeActions
              of={t(`sandbox.transitions.${transition.transition}`)}
              apiUrl={connection.apiUrl}
              request={transitionOf(testOrder.order.id, { transition: transition.transition })}
            />
          </Group>
        </li>
      ))}
    </ul>
  );
}

function Sentence({ transition }: { transition: PossibleTransition }) {
  const { t } = useTranslation();
  const textOf = useTransitionText();
  const { transition: name, isPossible, changes, eventTypes } = transition;
  const isOpen = isPossible && changes;
  return (
    <Stack gap={2} style={{ flex: "1 1 14rem", minWidth: 0 }}>
      <Group gap={6}>
        <Text size="sm" fw={500}>
          {t(`sandbox.transitions.${name}`)}
        </Text>
        <Pill tone={isOpen ? "success" : "neutral"}>
          {isOpen ? t("sandbox.possible") : t("sandbox.impossible")}
        </Pill>
      </Group>
      <Text size="sm" id={sentenceId(name)}>
        {textOf(transition)}
        {isOpen && (
          <>
            {" "}
            {eventTypes.length === 0
              ? t("sandbox.noEvent")
              : t("sandbox.publishes", { events: eventTypes.join(", ") })}
          </>
        )}
      </Text>
    </Stack>
  );
}

type TransitionOptionsProps = { readonly order: PartnerOrder; readonly apply: ApplyTransition };

/** The dialog for the transitions that have fields. The buttons on the picture leave these out. */
function TransitionOptions({ name, ...rest }: TransitionOptionsProps & { name: TransitionName }) {
  if (name === "hold") return <HoldOptions {...rest} />;
  if (name === "ship") return <ShipOptions {...rest} />;
  return name === "returnShipment" ? <ReturnOptions {...rest} /> : null;
}

/** The service accepts as many. */
const REASONS_MAX = 20;

function HoldOptions({ order, apply }: TransitionOptionsProps) {
  const { t } = useTranslation();
  return (
    <ConfirmAction
      label={t("sandbox.holdWith")}
      effect={t("sandbox.effects.hold")}
      done={t("orderActions.held")}
      initialValues={{ reasons: order.onHold ? [...order.onHoldReasons] : ["out_of_stock"] }}
      fields={(form) => (
        <TagsInput
          label={t("orderActions.reason")}
          description={t("sandbox.reasonsHelp")}
          data={["out_of_stock", "payment_failed", "address_unserviceable", "merchant_request"]}
          maxTags={REASONS_MAX}
          openOnFocus={false}
          data-autofocus
          {...form.getInputProps("reasons")}
        />
      )}
      run={({ reasons }) => apply({ transition: "hold", ...(reasons.length > 0 && { reasons }) })}
    />
  );
}

function ShipOptions({ order, apply }: TransitionOptionsProps) {
  const { t } = useTranslation();
  const unshipped = order.lines.filter(({ shipmentId }) => shipmentId === null);
  return (
    <ConfirmAction<ShipValues>
      label={t("sandbox.shipWith")}
      effect={t("sandbox.effects.ship")}
      done={t("orderActions.shipped")}
      initialValues={{
        lineIds: unshipped.map(({ id }) => id),
        carrier: "DHL",
        trackingNumber: "JD014600003RS",
        trackingUrl: "",
      }}
      validate={({ lineIds }) => (lineIds.length === 0 ? { lineIds: t("orderActions.chooseLine") } : {})}
      fields={(form) => (
        <ShipFields
          form={form}
          lines={unshipped.map(({ id, productId, quantity }) => ({
            id,
            label: `${quantity} × ${productId}`,
          }))}
        />
      )}
      run={(values) => apply({ transition: "ship", ...filled(values) })}
    />
  );
}

function ReturnOptions({ order, apply }: TransitionOptionsProps) {
  const { t } = useTranslation();
  const out = order.shipments.filter(({ status }) => status !== "returned");
  return (
    <ConfirmAction
      label={t("sandbox.returnWith")}
      effect={t("sandbox.effects.returnShipment")}
      done={t("orderActions.returned")}
      initialValues={{ shipmentId: out.at(-1)?.id ?? "" }}
      fields={(form) => (
        <Select
          label={t("order.shipment")}
          allowDeselect={false}
          openOnFocus={false}
          data={out.map(({ id, trackingNumber }) => ({
            value: id,
            label: trackingNumber === null ? id : `${trackingNumber} · ${id}`,
          }))}
          data-autofocus
          {...form.getInputProps("shipmentId")}
        />
      )}
      run={(values) => apply({ transition: "returnShipment", ...filled(values) })}
    />
  );
}

/** Applies a transition; returns the order as it is afterwards. */
type ApplyTransition = (body: TransitionRequest) => Promise<TestOrder>;

/** The rules of the sandbox. Another one is shown in the service's own words. */
const RULES = [
  "order_on_hold",
  "unshipped_lines",
  "order_settled",
  "no_shipment_out",
  "nothing_to_ship",
] as const;

/** What a transition does now, or why it is not possible. */
function useTransitionText(): (transition: PossibleTransition) => string {
  const { t } = useTranslation();
  return ({ transition, rule, detail, changes }) => {
    if (rule !== null) {
      const known = RULES.find((each) => each === rule);
      return known === undefined ? (detail ?? rule) : t(`sandbox.rules.${known}`);
    }
    return changes ? t(`sandbox.effects.${transition}`) : t("sandbox.noChange");
  };
}

/** The id of the sentence about a transition, which describes its button. */
const sentenceId = (transition: TransitionName): string => `transition-${transition}`;
