import { Code, Text } from "@mantine/core";
import { useQueryErrorResetBoundary } from "@tanstack/react-query";
import { type ErrorComponentProps, useRouter } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { ApiProblem } from "../api/problem.ts";
import { paths } from "../paths.ts";
import { TextLink } from "../ui/link.tsx";
import { Page } from "../ui/page.tsx";
import { isFinal, ProblemMessage, useProblemText } from "../ui/problem-message.tsx";

/** What a page shows that cannot be shown. Its button loads the page's data again. */
export function ErrorPage({ error, reset }: ErrorComponentProps) {
  const { t } = useTranslation();
  const router = useRouter();
  const queries = useQueryErrorResetBoundary();
  const retry = async () => {
    queries.reset();
    await router.invalidate();
    reset();
  };
  if (error instanceof ApiProblem && isFinal(error)) return <NothingHere error={error} />;
  return (
    <Page title={t("problem.pageTitle")}>
      <ProblemMessage error={error} retry={() => void retry()} />
    </Page>
  );
}

/** What the page is about does not exist, or is not for this person. It is not a failure, and to try again changes nothing. */
function NothingHere({ error }: { error: ApiProblem }) {
  const { t } = useTranslation();
  const textOf = useProblemText();
  return (
    <Page title={t(error.code === "forbidden" ? "problem.forbiddenTitle" : "problem.notFoundTitle")}>
      <Text size="sm" role="alert">
        {textOf(error)}
      </Text>
      <TextLink to={paths.overview()}>{t("shell.toStart")}</TextLink>
      {error.requestId !== null && (
        <Text size="xs" c="dimmed">
          {t("problem.requestId")} <Code>{error.requestId}</Code>
        </Text>
      )}
    </Page>
  );
}

/** An address that no page has. */
export function MissingPage() {
  const { t } = useTranslation();
  return (
    <Page title={t("shell.missing")}>
      <Text size="sm">{t("shell.missingHelp")}</Text>
      <TextLink to={paths.overview()}>{t("shell.toStart")}</TextLink>
    </Page>
  );
}
