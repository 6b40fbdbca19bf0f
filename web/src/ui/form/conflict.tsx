import { Paper, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

/** The stored values, below a form that another person's change has overtaken. */
export function Conflict({ children }: { children: ReactNode }) {
  const { t } = useTranslation();
  return (
    <Paper withBorder p="sm" component="section" aria-label={t("problem.storedNow")}>
      <Stack gap="xs">
        <Text size="sm" fw={600}>
          {t("problem.storedNow")}
        </Text>
        {children}
      </Stack>
    </Paper>
  );
}
