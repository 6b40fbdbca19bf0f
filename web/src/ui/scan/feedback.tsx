import IconAlertTriangle from "icon:alert-triangle";
import IconCheck from "icon:check";
import IconX from "icon:x";
import { Text } from "@mantine/core";
import type { ReactNode } from "react";
import classes from "./feedback.module.css";

export type FeedbackTone = "good" | "warning" | "bad";

const ICONS = { good: IconCheck, warning: IconAlertTriangle, bad: IconX } as const;

type Props = {
  readonly tone: FeedbackTone;
  readonly text: string;
  /** Changes with each scan, so that the same message twice is announced, and seen to be new. */
  readonly number: number;
  readonly children?: ReactNode;
};

/** What the last scan did: large enough for a person who stands at a table. */
export function Feedback({ tone, text, number, children }: Props) {
  const Icon = ICONS[tone];
  return (
    <div role={tone === "bad" ? "alert" : "status"} aria-live={tone === "bad" ? "assertive" : "polite"}>
      <div key={number} className={classes["feedback"]} data-tone={tone}>
        <Icon size={32} stroke={2} aria-hidden style={{ flex: "none" }} />
        <div>
          <Text fz="xl" fw={600} lh={1.25}>
            {text}
          </Text>
          {children}
        </div>
      </div>
    </div>
  );
}
