import { Group, Stack, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { Connection, PossibleTransition, TestOrder } from "../../../api/schema.d.ts";
import { Pill } from "../../../ui/status-badge.tsx";
import { CodeActions } from "../code/code-actions.tsx";
import { transitionOf } from "../code/partner-request.ts";
import classes from "./transition-list.module.css";
import { TransitionOptions } from "./transition-options.tsx";
import type { ApplyTransition } from "./transition-text.ts";
import { sentenceId, useTransitionText } from "./transition-text.ts";

type Props = {
  readonly connection: Connection;
  readonly testOrder: TestOrder;
  readonly mayChange: boolean;
  readonly apply: ApplyTransition;
};

/** Each transition in a sentence, with the fields that it may have, and the partner's request for it. */
export function TransitionList({ connection, testOrder, mayChange, apply }: Props) {
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
