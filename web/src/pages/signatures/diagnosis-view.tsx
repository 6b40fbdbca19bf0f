import { Alert, Group, Stack, Text } from "@mantine/core";
import { IconCircleCheck, IconHelpCircle, IconStethoscope, IconX } from "@tabler/icons-react";
import { useTranslation } from "react-i18next";
import { formatDuration } from "../../text/format.ts";
import { Pill, type Tone } from "../../ui/status-badge.tsx";
import type { Diagnosis, Verdict } from "./rules/diagnose.ts";
import { FINDINGS, type Finding } from "./rules/finding.ts";

const VERDICTS = {
  genuine: { color: "green", Icon: IconCircleCheck },
  explained: { color: "yellow", Icon: IconStethoscope },
  different: { color: "red", Icon: IconX },
  incomplete: { color: "gray", Icon: IconHelpCircle },
} as const satisfies Record<Verdict, object>;

const TONES = { fault: "danger", warning: "warning", note: "neutral" } as const satisfies Record<
  string,
  Tone
>;

/** A diagnosis in sentences: whether the signature is right, and what was found. */
export function DiagnosisView({ of: { verdict, findings } }: { of: Diagnosis }) {
  const { t } = useTranslation();
  const { color, Icon } = VERDICTS[verdict];
  return (
    <Stack gap="sm">
      <Alert
        color={color}
        variant="light"
        icon={<Icon size={18} />}
        title={t(`doctor.verdicts.${verdict}`)}
        role="presentation"
      >
        <Text size="sm">{t(`doctor.verdictsAbout.${verdict}`)}</Text>
      </Alert>
      <Stack gap="xs" component="ul" m={0} p={0} style={{ listStyle: "none" }}>
        {bySeverity(findings).map((finding) => (
          <FindingItem key={JSON.stringify(finding)} finding={finding} />
        ))}
      </Stack>
    </Stack>
  );
}

const SEVERITIES = ["fault", "warning", "note"];

/** What to correct first comes first. */
const bySeverity = (findings: readonly Finding[]): readonly Finding[] =>
  findings.toSorted((a, b) => SEVERITIES.indexOf(FINDINGS[a.code]) - SEVERITIES.indexOf(FINDINGS[b.code]));

function FindingItem({ finding: { code, values } }: { finding: Finding }) {
  const { t } = useTranslation();
  const severity = FINDINGS[code];
  const age = typeof values?.["seconds"] === "number" ? formatDuration(values["seconds"] * 1_000) : "";
  return (
    <Group component="li" gap="xs" align="flex-start" wrap="nowrap">
      <Pill tone={TONES[severity]}>{t(`doctor.severities.${severity}`)}</Pill>
      <Text size="sm" style={{ overflowWrap: "anywhere" }}>
        {t(`doctor.findings.${code}` as "doctor.findings.header_missing", { name: "", ...values, age })}
      </Text>
    </Group>
  );
}
