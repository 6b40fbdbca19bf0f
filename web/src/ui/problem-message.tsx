import IconAlertTriangle from "icon:alert-triangle";
import { Alert, Button, Code, Group, List, Stack, Text } from "@mantine/core";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { PasskeyProblem } from "../api/passkeys.ts";
import { ApiProblem, isUncertain } from "../api/problem.ts";
import { explained, explainedProblem, PROBLEMS_WITH_TEXTS } from "../text/explanations.ts";
import { formatDuration } from "../text/format.ts";
import classes from "./problem-message.module.css";

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

/**
 * An error in plain words, once: what fields of the same form say beside themselves is not repeated, and if they say all of it,
 * nothing is shown here. The id under which the service has logged it is behind a word.
 */
export function ProblemMessage({ error, retry }: Props) {
  const { t } = useTranslation();
  const textOf = useProblemText();
  const { mark, errors, isAtFields } = useErrorsWithoutField(error);
  const requestId = error instanceof ApiProblem ? error.requestId : null;
  if (isAtFields) return <span ref={mark} hidden />;
  return (
    <Alert color="red" variant="light" icon={<IconAlertTriangle size={18} />} role="alert" ref={mark}>
      <Stack gap="xs">
        <Text size="sm">
          {textOf(error)} {isUncertain(error) && t("problem.uncertain")}
        </Text>
        {errors.length > 0 && (
          <List size="sm">
            {errors.map((each) => (
              <List.Item key={`${each.pointer ?? each.parameter} ${each.line} ${each.detail}`}>
                {each.parameter !== undefined && <Code>{each.parameter}</Code>} {explained(each)}
              </List.Item>
            ))}
          </List>
        )}
        {retry !== undefined && !(error instanceof ApiProblem && isFinal(error)) && (
          <Group>
            <Button size="xs" variant="default" onClick={retry}>
              {t("ui.retry")}
            </Button>
          </Group>
        )}
        {requestId !== null && (
          <details className={classes["details"]}>
            <summary>{t("problem.details")}</summary>
            {t("problem.requestId")} <Code>{requestId}</Code>
          </details>
        )}
      </Stack>
    </Alert>
  );
}

const NONE: ApiProblem["errors"] = [];
const NO_TEXTS: ReadonlySet<string> = new Set();

/**
 * The explanations of a 422 that no field of the form shows, since some fields may not be on the page. Which field has which
 * one depends on the form, so what it shows is read. The first field with an error gets the focus.
 */
function useErrorsWithoutField(error: unknown) {
  const mark = useRef<HTMLElement & HTMLDivElement>(null);
  const errors = error instanceof ApiProblem ? error.errors : NONE;
  const [seen, setSeen] = useState({ of: error, texts: NO_TEXTS });
  const texts = seen.of === error ? seen.texts : NO_TEXTS;
  useLayoutEffect(() => {
    const atFields = textsOfFields(mark.current);
    // A field that the person changes does not show its error any more, and it is not to come back elsewhere.
    const more = errors.map(explained).filter((text) => atFields.has(text) && !texts.has(text));
    if (more.length > 0) setSeen({ of: error, texts: new Set([...texts, ...more]) });
  });
  useEffect(() => {
    if (errors.length > 0)
      mark.current?.closest("form")?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [errors]);
  const others = errors.filter((each) => !texts.has(explained(each)));
  return { mark, errors: others, isAtFields: errors.length > 0 && others.length === 0 };
}

const textsOfFields = (mark: HTMLElement | null): ReadonlySet<string> =>
  new Set(
    [...(mark?.closest("form")?.querySelectorAll(".mantine-InputWrapper-error") ?? [])].map(
      ({ textContent }) => textContent,
    ),
  );
