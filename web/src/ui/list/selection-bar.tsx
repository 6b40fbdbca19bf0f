import { Button, Group, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import classes from "./filters.module.css";

type Props = {
  /** What is chosen, such as `3 orders are selected`. */
  readonly text: string;
  readonly clear: () => void;
  /** The actions on all of it. */
  readonly children: ReactNode;
};

/** What can be done with the rows that are chosen, above the list. It stays in sight. */
export function SelectionBar({ text, clear, children }: Props) {
  const { t } = useTranslation();
  return (
    <Group gap="xs" className={classes["selection"] ?? ""} role="group" aria-label={t("selection.label")}>
      <Text size="sm" fw={500} role="status" pe="xs">
        {text}
      </Text>
      {children}
      <Button size="xs" variant="subtle" color="gray" onClick={clear}>
        {t("selection.clear")}
      </Button>
    </Group>
  );
}
