import { Code, Group, SimpleGrid, Stack, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { DeliveryAttemptDetails } from "../../../api/schema.d.ts";
import { formatNumber } from "../../../text/format.ts";
import { CopyButton } from "../../../ui/copy-button.tsx";
import { ButtonLink } from "../../../ui/link.tsx";
import { Section } from "../../../ui/section.tsx";
import { Pill } from "../../../ui/status-badge.tsx";
import { Time } from "../../../ui/time.tsx";
import { headerText } from "../../signatures/header-text.ts";

type Props = {
  readonly attempt: DeliveryAttemptDetails;
  /** The address of the page that checks its signature. */
  readonly doctorTo: string;
};

/** One attempt: what was sent, beside what came back. */
export function AttemptSection({ attempt, doctorTo }: Props) {
  const { t } = useTranslation();
  const { number, startedAt, durationMs, trigger, error, request, responseBody } = attempt;
  return (
    <Section
      title={t("deliveries.attempt", { number })}
      actions={
        <Group gap={6}>
          <Pill tone={error === null ? "success" : "danger"}>{outcomeOf(attempt)}</Pill>
          {trigger !== "schedule" && <Pill>{t(`deliveries.triggers.${trigger}`)}</Pill>}
        </Group>
      }
    >
      <Text size="sm" c="dimmed">
        <Time at={startedAt} as="exact" />
        {durationMs !== null && ` · ${formatNumber(durationMs)} ms`}
      </Text>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
        <Stack gap="xs" miw={0}>
          <Text size="sm" fw={600}>
            {t("deliveries.request")}
          </Text>
          {request === null ? (
            <Text size="sm">{t("deliveries.requestUnknown")}</Text>
          ) : (
            <>
              <Block of={t("deliveries.headers")} text={headerText(request.headers)} />
              {request.body === null ? (
                <Text size="sm">{t("deliveries.bodyGone")}</Text>
              ) : (
                <Block of={t("deliveries.body")} text={request.body} />
              )}
              <Group>
                <ButtonLink to={doctorTo} size="xs" variant="default">
                  {t("doctor.check")}
                </ButtonLink>
              </Group>
            </>
          )}
        </Stack>
        <Stack gap="xs" miw={0}>
          <Text size="sm" fw={600}>
            {t("deliveries.response")}
          </Text>
          {responseBody === null || responseBody === "" ? (
            <Text size="sm">
              {t(responseBody === null ? "deliveries.noResponse" : "deliveries.emptyBody")}
            </Text>
          ) : (
            <Block of={t("deliveries.response")} text={responseBody} />
          )}
        </Stack>
      </SimpleGrid>
    </Section>
  );
}

const outcomeOf = ({ error, responseStatus }: DeliveryAttemptDetails): string =>
  error ?? `HTTP ${responseStatus}`;

/** The text as it was sent: to the byte, because the signature is over these bytes. */
function Block({ of, text }: { of: string; text: string }) {
  return (
    <Group gap="xs" align="flex-start" wrap="nowrap">
      <Code
        block
        tabIndex={0}
        aria-label={of}
        style={{
          flex: 1,
          whiteSpace: "pre-wrap",
          overflowWrap: "anywhere",
          maxHeight: 320,
          overflow: "auto",
        }}
      >
        {text}
      </Code>
      <CopyButton value={text} of={of} />
    </Group>
  );
}
