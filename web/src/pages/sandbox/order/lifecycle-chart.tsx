import { Button, Tooltip, VisuallyHidden } from "@mantine/core";
import type { CSSProperties } from "react";
import { useTranslation } from "react-i18next";
import type { OrderStatus, PossibleTransition, TestOrder } from "../../../api/schema.d.ts";
import classes from "./lifecycle-chart.module.css";
import type { TransitionName } from "./transition-text.ts";
import { sentenceId, useTransitionText } from "./transition-text.ts";

type Props = {
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
export function LifecycleChart({ testOrder, mayChange, pending, onTransition }: Props) {
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
