import { Alert, Button, Code, Group, List, Stack, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useTranslation } from "react-i18next";
import { PasskeyProblem } from "../api/passkeys.ts";
import { ApiProblem, isUncertain } from "../api/problem.ts";
import { explained, explainedProblem, PROBLEMS_WITH_TEXTS } from "../text/explanations.ts";
import { formatDuration } from "../text/format.ts";

/** The problems that have texts of their own; the others show what the service says. */
const KNOWN = ["unreachable", "timed-out", ...PROBLEMS_WITH_TEXTS] as const;

/** The problem and its remedy, in the person's language. */
export function useProblemText(): (error: unknown) => string {
  const { t } = useTranslation();
  return (error) => {
    if (error instanceof PasskeyProblem) return t(`problem.passkeys.${error.reason}`);
    if (!(error instanceof ApiProblem)) return t("problem.page");
    if (error.code === "rate-limited" && error.retryAfterMs !== null)
      return t("problem.rateLimitedFor", { time: formatDuration(error.retryAfterMs) });
    const known = KNOWN.find((code) => code === error.code);
    return known === undefined ? explainedProblem(error) || t("problem.unexpected") : t(`problem.${known}`);
  };
}

/** Another attempt gets the same response. */
export const isFinal = ({ code }: ApiProblem): boolean => code === "forbidden" || code === "not-found";

type Props = { readonly error: unknown; readonly retry?: (() => void) | undefined };

/** An error in plain words, with the id under which the service has logged it. */
export function ProblemMessage({ error, retry }: Props) {
  const { t } = useTranslation();
  const textOf = useProblemText();
  const requestId = error instanceof ApiProblem ? error.requestId : null;
  return (
    <Alert
      color="red"
      variant="light"
      icon={<IconAlertTriangle size={18} />}
      title={t("problem.title")}
      role="alert"
    >
      <Stack gap="xs">
        <Text size="sm">
          {textOf(error)} {isUncertain(error) && t("problem.uncertain")}
        </Text>
        <FieldErrors error={error} />
        {requestId !== null && (
          <Text size="xs">
            {t("problem.requestId")} <Code>{requestId}</Code>
          </Text>
        )}
        {retry !== undefined && !(error instanceof ApiProblem && isFinal(error)) && (
          <Group>
            <Button size="xs" variant="default" onClick={retry}>
              {t("ui.retry")}
            </Button>
          </Group>
        )}
      </Stack>
    </Alert>
  );
}

/** All explanations of a 422: some fields may not be on the page. */
function FieldErrors({ error }: { error: unknown }) {
  if (!(error instanceof ApiProblem) || error.errors.length === 0) return null;
  return (
    <List size="sm">
      {error.errors.map((each) => (
        <List.Item key={`${each.pointer ?? each.parameter} ${each.line} ${each.detail}`}>
          {each.parameter !== undefined && <Code>{each.parameter}</Code>} {explained(each)}
        </List.Item>
      ))}
    </List>
  );
}
