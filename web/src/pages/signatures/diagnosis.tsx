import IconCircleCheck from "icon:circle-check";
import IconHelpCircle from "icon:help-circle";
import IconStethoscope from "icon:stethoscope";
import IconX from "icon:x";
import { Alert, Group, Stack, Text } from "@mantine/core";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import {
  type Diagnosis,
  diagnose,
  type Evidence,
  type Verdict,
} from "../../../../packages/signature-doctor/diagnose.ts";
import { FINDINGS, type Finding } from "../../../../packages/signature-doctor/finding.ts";
import { bySeverity } from "../../../../packages/signature-doctor/texts.ts";
import { formatDuration } from "../../text/format.ts";
import { Pill, type Tone } from "../../ui/status-badge.tsx";

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

/** Whether the browser computes signatures on this page: it must have been loaded over TLS or from this machine. */
export const canDiagnose = (): boolean => globalThis.isSecureContext;

/** What is wrong with a request. Null until it is known. Nothing but this tab's memory has the evidence. */
export function useDiagnosis(evidence: Evidence | null): Diagnosis | null {
  const [diagnosis, setDiagnosis] = useState<Diagnosis | null>(null);
  // The parts, not the object: that is a new one whenever the page is drawn.
  const { headers, body, secret, computed, arrival } = evidence ?? {};
  useEffect(() => {
    let isCurrent = true;
    setDiagnosis(null);
    if (headers === undefined || body === undefined || secret === undefined || !canDiagnose()) return;
    const given = { headers, body, secret, computed: computed ?? "", arrival: arrival ?? "" };
    void diagnose(given, new Date()).then((found) => {
      if (isCurrent) setDiagnosis(found);
    });
    return () => {
      isCurrent = false;
    };
  }, [headers, body, secret, computed, arrival]);
  return diagnosis;
}
