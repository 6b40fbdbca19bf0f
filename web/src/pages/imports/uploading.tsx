import { Button, Group, Progress, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { formatBytes, formatNumber } from "../../text/format.ts";
import { Section } from "../../ui/section.tsx";
import type { ImportState } from "./use-import.ts";

type UploadingProps = {
  readonly state: Extract<ImportState<unknown>, { phase: "checking" | "storing" }>;
  readonly name: string;
  readonly cancel: () => void;
};

/** The service checks the file as it arrives: what is sent is what is checked, but for a few rows. Then it stores them. */
export function Uploading({ state, name, cancel }: UploadingProps) {
  const { t } = useTranslation();
  const { phase, sent } = state;
  const stored = state.phase === "storing" ? state.stored : null;
  const isSent = sent.sent >= sent.total;
  const title = t(phase === "checking" ? "importing.checking" : "importing.storing", { file: name });
  const part = stored === null ? partOf(sent.sent, sent.total) : partOf(stored.stored, stored.total);
  return (
    <Section title={title}>
      <Progress value={part} animated={isSent && stored === null} aria-label={title} />
      <Group justify="space-between">
        <Text size="sm" role="status">
          {stored !== null
            ? t("importing.stored", {
                stored: formatNumber(stored.stored),
                total: formatNumber(stored.total),
              })
            : isSent
              ? t("importing.rest")
              : t("importing.sent", { sent: formatBytes(sent.sent), total: formatBytes(sent.total) })}
        </Text>
        {/* What has arrived whole is stored, whether the page waits or not. */}
        {!(phase === "storing" && isSent) && (
          <Button size="xs" variant="default" onClick={cancel}>
            {t("importing.cancel")}
          </Button>
        )}
      </Group>
    </Section>
  );
}

const partOf = (done: number, total: number): number => (total === 0 ? 100 : (done / total) * 100);
