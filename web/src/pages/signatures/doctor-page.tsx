import IconLock from "icon:lock";
import {
  Alert,
  Anchor,
  Button,
  Grid,
  Group,
  Skeleton,
  Stack,
  Text,
  Textarea,
  TextInput,
} from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { Evidence } from "../../../../packages/signature-doctor/diagnose.ts";
import { paths } from "../../paths.ts";
import { headerText } from "../../text/format.ts";
import { TextLink } from "../../ui/link.tsx";
import { Page, Section } from "../../ui/page.tsx";
import { ProblemMessage } from "../../ui/problem-message.tsx";
import { deliveryQuery } from "../webhooks/queries.ts";
import { canDiagnose, DiagnosisView, useDiagnosis } from "./diagnosis.tsx";

const route = getRouteApi("/signed-in/signature-doctor");

const NOTHING: Evidence = { headers: "", body: "", secret: "", computed: "", arrival: "" };

/** The page of the documentation about signatures. */
const DOCUMENTATION = "/docs/partners/signatures.html";

/** Finds out why an endpoint rejects a request. With the ids of an attempt in the address, its request is filled in. */
export function DoctorPage() {
  const { t } = useTranslation();
  const { ownerId, deliveryId, attempt } = route.useSearch();
  const isFilled = ownerId !== undefined && deliveryId !== undefined;
  return (
    <Page title={t("doctor.title")} about={t("doctor.about")}>
      <Group gap={6} wrap="nowrap">
        <IconLock size={16} aria-hidden style={{ flexShrink: 0 }} />
        <Text size="sm">{t("doctor.private")}</Text>
      </Group>
      {!canDiagnose() && (
        <Alert color="red" role="alert">
          {t("doctor.insecure")}
        </Alert>
      )}
      {isFilled ? (
        <DoctorOfDelivery ownerId={ownerId} deliveryId={deliveryId} attempt={attempt} />
      ) : (
        <Doctor initial={NOTHING} />
      )}
    </Page>
  );
}

type OfDelivery = {
  readonly ownerId: string;
  readonly deliveryId: string;
  readonly attempt: string | undefined;
};

/** The request of an attempt, read again by its ids; without a number, of the last attempt. */
function DoctorOfDelivery({ ownerId, deliveryId, attempt }: OfDelivery) {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(deliveryQuery(ownerId, deliveryId));
  if (error !== null) return <ProblemMessage error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Skeleton height={240} role="status" aria-label={t("ui.loading")} />;
  const { attempts, eventType } = data;
  const chosen = attempts.find(({ number }) => String(number) === attempt) ?? attempts.at(-1);
  const request = chosen?.request;
  return (
    <>
      <Text size="sm">
        {t("doctor.of")} {t("doctor.ofDelivery")}:{" "}
        <TextLink to={paths.delivery(ownerId, deliveryId)} size="sm">
          {eventType}
        </TextLink>
      </Text>
      <Doctor
        initial={
          request == null
            ? NOTHING
            : { ...NOTHING, headers: headerText(request.headers), body: request.body ?? "" }
        }
      />
    </>
  );
}

/** Nothing of the evidence leaves the state of this component: no request, no address, no storage. */
function Doctor({ initial }: { initial: Evidence }) {
  const { t } = useTranslation();
  const [evidence, setEvidence] = useState(initial);
  const isEmpty = Object.values(evidence).every((text) => text === "");
  const diagnosis = useDiagnosis(isEmpty ? null : evidence);
  return (
    <Grid>
      <Grid.Col span={{ base: 12, md: 7 }}>
        <Section
          title={t("doctor.evidence")}
          actions={
            <Button size="xs" variant="default" disabled={isEmpty} onClick={() => setEvidence(NOTHING)}>
              {t("doctor.clear")}
            </Button>
          }
        >
          <EvidenceFields evidence={evidence} onChange={setEvidence} />
        </Section>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 5 }}>
        <Section title={t("doctor.result")}>
          <div aria-live="polite">
            {diagnosis === null ? (
              <Text size="sm" c="dimmed">
                {t("doctor.start")}
              </Text>
            ) : (
              <DiagnosisView of={diagnosis} />
            )}
          </div>
          <Group>
            <Anchor href={DOCUMENTATION} size="sm">
              {t("doctor.documentation")}
            </Anchor>
          </Group>
        </Section>
      </Grid.Col>
    </Grid>
  );
}

/** Browsers offer to store what is typed into forms, and some send it to be checked for spelling. */
const UNSTORED = {
  autoComplete: "off",
  autoCapitalize: "off",
  spellCheck: false,
  styles: { input: { fontFamily: "var(--mantine-font-family-monospace)" } },
} as const;

type FieldsProps = { readonly evidence: Evidence; readonly onChange: (evidence: Evidence) => void };

function EvidenceFields({ evidence, onChange }: FieldsProps) {
  const { t } = useTranslation();
  const propsOf = (name: keyof Evidence) => ({
    ...UNSTORED,
    label: t(`doctor.${name}`),
    description: t(`doctor.${name}Help`),
    value: evidence[name],
    onChange: (event: { currentTarget: { value: string } }) =>
      onChange({ ...evidence, [name]: event.currentTarget.value }),
  });
  return (
    <Stack gap="sm">
      <Textarea {...propsOf("headers")} autosize minRows={4} maxRows={10} />
      <Textarea {...propsOf("body")} autosize minRows={5} maxRows={14} />
      <TextInput {...propsOf("secret")} data-1p-ignore data-lpignore="true" />
      <details>
        <Text component="summary" size="sm">
          {t("doctor.more")}
        </Text>
        <Stack gap="sm" mt="sm">
          <TextInput {...propsOf("computed")} />
          <TextInput {...propsOf("arrival")} />
        </Stack>
      </details>
    </Stack>
  );
}
