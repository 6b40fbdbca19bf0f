import { Button, Group, Paper, Text } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { ExposureDialog } from "./exposure-dialog.tsx";
import type { ExposureChange, Products, Target } from "./run-exposure.ts";

type Props = {
  /** Ways to select. */
  readonly children: ReactNode;
  /** What is selected, in a sentence. Null if nothing is. */
  readonly selected: string | null;
  readonly clear: () => void;
  readonly merchantId: string;
  readonly products: Products;
  readonly targets?: readonly Target[];
  readonly suggested?: string | undefined;
};

/** Above a list whose rows can be selected: what is selected, and what can be done with it. */
export function ExposureBar({ children, selected, clear, ...dialog }: Props) {
  const { t } = useTranslation();
  const [change, setChange] = useState<ExposureChange | null>(null);
  return (
    <Paper component="section" withBorder px="sm" py={6} radius="md" aria-label={t("selection.label")}>
      <Group gap="xs" justify="space-between" mih={30}>
        <Group gap="xs">
          {children}
          <Text size="sm" role="status">
            {selected}
          </Text>
        </Group>
        {selected !== null && (
          <Group gap="xs">
            <Button size="xs" variant="subtle" onClick={clear}>
              {t("selection.clear")}
            </Button>
            <Button size="xs" variant="default" onClick={() => setChange("withdraw")}>
              {t("exposure.withdraw")}
            </Button>
            <Button size="xs" onClick={() => setChange("expose")}>
              {t("exposure.expose")}
            </Button>
          </Group>
        )}
      </Group>
      {change !== null && selected !== null && (
        <ExposureDialog {...dialog} change={change} chosen={selected} close={() => setChange(null)} />
      )}
    </Paper>
  );
}
