import { Alert } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { isProblem } from "../api/problem.ts";
import { ProblemMessage } from "../ui/problem-message.tsx";

type Props = {
  readonly problem: Error;
  /** What may be wrong. Default: mail address or password. */
  readonly failed?: string;
};

/** Why a sign-in did not succeed. The service never says which part was wrong. */
export function SignInProblem({ problem, failed }: Props) {
  const { t } = useTranslation();
  if (isProblem(problem, "sign-in-failed"))
    return (
      <Alert color="red" variant="light" role="alert">
        {failed ?? t("signIn.failed")}
      </Alert>
    );
  if (isProblem(problem, "rate-limited"))
    return (
      <Alert color="red" variant="light" role="alert">
        {t("signIn.tooMany")}
      </Alert>
    );
  return <ProblemMessage error={problem} />;
}
