import { Button, Code, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { useTranslation } from "react-i18next";
import type { DeliveryAttempt, DeliveryRequest, OrderEventDelivery } from "../../../api/schema.d.ts";
import { paths } from "../../../paths.ts";
import { formatNumber } from "../../../text/format.ts";
import { TextLink } from "../../../ui/link.tsx";
import { ProblemMessage } from "../../../ui/problem-message.tsx";
import { Pill, StatusBadge } from "../../../ui/status-badge.tsx";
import { DiagnosisView } from "../../signatures/diagnosis-view.tsx";
import { headerText } from "../../signatures/header-text.ts";
import { canDiagnose, useDiagnosis } from "../../signatures/use-diagnosis.ts";
import { deliveryQuery } from "../../webhooks/queries.ts";
import { useMemory } from "../memory.ts";

type Props = {
  readonly connectionId: string;
  readonly shown: OrderEventDelivery;
  readonly lastAttempt: DeliveryAttempt | undefined;
  readonly attemptCount: number;
};

/** The event at one endpoint: how the receiver responded, and whether the signature is right. */
export function EventDelivery({ connectionId, shown, lastAttempt, attemptCount }: Props) {
  const { t } = useTranslation();
  const [isOpen, setOpen] = useState(false);
  const [secret] = useMemory(["signing-secret", shown.endpointId], "");
  const contentId = useId();
  const { request, error } = useRequest({ connectionId, shown, attemptCount }, isOpen || secret !== "");
  return (
    <Stack gap={6} pl="sm">
      <Group gap="xs">
        <StatusBadge of="delivery" status={shown.status} />
        <TextLink to={paths.delivery(connectionId, shown.id)} size="sm" style={{ overflowWrap: "anywhere" }}>
          {shown.endpointUrl}
        </TextLink>
        {lastAttempt !== undefined && <Outcome attempt={lastAttempt} />}
        {attemptCount > 0 && secret !== "" && request !== null && (
          <SignaturePill secret={secret} request={request} isOpen={isOpen} />
        )}
        {attemptCount > 0 && (
          <Button
            size="compact-xs"
            variant="default"
            aria-expanded={isOpen}
            aria-controls={contentId}
            onClick={() => setOpen(!isOpen)}
          >
            {t("deliveries.request")}
          </Button>
        )}
      </Group>
      <div id={contentId} hidden={!isOpen}>
        {isOpen && error !== null && <ProblemMessage error={error} />}
        {isOpen && request !== null && <Request request={request} />}
      </div>
    </Stack>
  );
}

type Asked = Pick<Props, "connectionId" | "shown" | "attemptCount">;

/** The request of the last attempt. Reading it is recorded, so it is read once for each attempt, and only when needed. */
function useRequest({ connectionId, shown, attemptCount }: Asked, isNeeded: boolean) {
  const query = deliveryQuery(connectionId, shown.id);
  const { data, error } = useQuery({
    ...query,
    queryKey: [...query.queryKey, "attempt", attemptCount],
    staleTime: "static",
    enabled: isNeeded && attemptCount > 0,
  });
  return { request: data?.attempts.at(-1)?.request ?? null, error };
}

function Outcome({ attempt: { error, responseStatus, durationMs } }: { attempt: DeliveryAttempt }) {
  return (
    <Text size="xs" c="dimmed">
      {error ?? `HTTP ${responseStatus}`}
      {durationMs !== null && ` · ${formatNumber(durationMs)} ms`}
    </Text>
  );
}

type CheckProps = { readonly secret: string; readonly request: DeliveryRequest; readonly isOpen: boolean };

/** True if the given secret signed the request; opened, with what was found. */
function SignaturePill({ secret, request: { headers, body }, isOpen }: CheckProps) {
  const { t } = useTranslation();
  const canCheck = headers["webhook-signature"] !== null && body !== null && canDiagnose();
  const evidence = { headers: headerText(headers), body: body ?? "", secret, computed: "", arrival: "" };
  const diagnosis = useDiagnosis(canCheck ? evidence : null);
  if (!canCheck) return <Pill>{t("sandbox.signatureUnknown")}</Pill>;
  if (diagnosis === null) return null;
  const isRight = diagnosis.verdict === "genuine";
  return (
    <>
      <Pill tone={isRight ? "success" : "danger"}>{t(`doctor.verdicts.${diagnosis.verdict}`)}</Pill>
      {isOpen && !isRight && <DiagnosisView of={diagnosis} />}
    </>
  );
}

function Request({ request: { headers, body } }: { request: DeliveryRequest }) {
  const { t } = useTranslation();
  return (
    <Stack gap={6}>
      {(
        [
          [t("deliveries.headers"), headerText(headers)],
          [t("deliveries.body"), body ?? t("deliveries.bodyGone")],
        ] as const
      ).map(([name, text]) => (
        <Code
          key={name}
          block
          tabIndex={0}
          aria-label={name}
          style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere", maxHeight: 280, overflow: "auto" }}
        >
          {text}
        </Code>
      ))}
    </Stack>
  );
}
