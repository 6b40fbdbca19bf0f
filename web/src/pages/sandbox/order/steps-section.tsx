import { Code, Group, SegmentedControl, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { Connection, PartnerOrder } from "../../../api/schema.d.ts";
import { CopyButton } from "../../../ui/copy-button.tsx";
import { Section } from "../../../ui/section.tsx";
import { CODE_LANGUAGES, type CodeLanguage, LANGUAGES } from "../code/code-actions.tsx";
import { cancelOf, creationOf, type PartnerRequest, readingOf } from "../code/partner-request.ts";
import { useSteps } from "./use-steps.ts";

type Props = { readonly connection: Connection; readonly order: PartnerOrder };

/** Every step as a request of the partner's own program: the creation, those of this tab, and what else it may send. */
export function StepsSection({ connection, order }: Props) {
  const { t } = useTranslation();
  const [language, setLanguage] = useState<CodeLanguage>("curl");
  const [steps] = useSteps(order.id);
  const requests: readonly { key: string; name: string; request: PartnerRequest }[] = [
    { key: "create", name: t("sandbox.create"), request: creationOf(order) },
    ...steps.map(({ name, at, request }) => ({ key: at, name: t(`sandbox.transitions.${name}`), request })),
    { key: "read", name: t("sandbox.read"), request: readingOf(order.id) },
    { key: "cancel", name: t("sandbox.cancelAsPartner"), request: cancelOf(order.id) },
  ];
  return (
    <Section
      title={t("sandbox.steps")}
      actions={
        <SegmentedControl
          size="xs"
          aria-label={t("sandbox.language")}
          data={[...CODE_LANGUAGES]}
          value={language}
          onChange={(value) => setLanguage(value as CodeLanguage)} // It is one of the two above.
        />
      }
    >
      <Text size="sm">{t("sandbox.stepsAbout")}</Text>
      <Stack component="ol" gap="sm" m={0} p={0} style={{ listStyle: "none" }}>
        {requests.map(({ key, name, request }, index) => (
          <li key={key}>
            <Step name={`${index + 1}. ${name}`} code={LANGUAGES[language](connection.apiUrl, request)} />
          </li>
        ))}
      </Stack>
    </Section>
  );
}

function Step({ name, code }: { name: string; code: string }) {
  return (
    <details>
      <Text component="summary" size="sm">
        {name}
      </Text>
      <Group gap="xs" align="flex-start" wrap="nowrap" mt={6}>
        <Code
          block
          tabIndex={0}
          aria-label={name}
          style={{ flex: 1, minWidth: 0, maxHeight: 360, overflow: "auto" }}
        >
          {code}
        </Code>
        <CopyButton value={code} of={name} />
      </Group>
    </details>
  );
}
