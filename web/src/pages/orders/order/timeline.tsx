import { Text, Timeline } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { Order, TimelineEntry } from "../../../api/schema.d.ts";
import { Section } from "../../../ui/section.tsx";
import { Time } from "../../../ui/time.tsx";
import { NoteAction } from "../actions/note-action.tsx";
import { useActor } from "../actor.ts";
import { useHoldReason } from "../hold-reason.ts";
import { OPERATIONS } from "./operations.ts";

/** The history of the order, newest first. */
export function OrderTimeline({ order }: { order: Order }) {
  const { t } = useTranslation();
  const { timeline } = order;
  return (
    <Section title={t("order.timeline")} actions={<NoteAction order={order} />}>
      <Timeline bulletSize={12} lineWidth={2} active={timeline.length}>
        {timeline.toReversed().map((entry) => (
          <Timeline.Item key={`${entry.at} ${entry.operation}`} title={<Entry entry={entry} />}>
            <Details entry={entry} />
          </Timeline.Item>
        ))}
      </Timeline>
    </Section>
  );
}

function Entry({ entry: { operation, onHoldReasons } }: { entry: TimelineEntry }) {
  const { t } = useTranslation();
  const holdReason = useHoldReason();
  const known = OPERATIONS.find((each) => each === operation);
  const reasons =
    operation === "hold" || operation === "addHold" ? `: ${onHoldReasons.map(holdReason).join(", ")}` : "";
  return (
    <Text size="sm" fw={500}>
      {known === undefined ? operation : t(`operations.${known}`)}
      {reasons}
    </Text>
  );
}

function Details({ entry: { at, actor, detail } }: { entry: TimelineEntry }) {
  const actorOf = useActor();
  return (
    <>
      {detail !== null && (
        <Text size="sm" style={{ overflowWrap: "anywhere", whiteSpace: "pre-line" }}>
          {detail}
        </Text>
      )}
      <Text size="xs" c="dimmed">
        <Time at={at} /> · {actorOf(actor)}
      </Text>
    </>
  );
}
