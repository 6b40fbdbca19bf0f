import { Alert } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { isProblem } from "../api/problem.ts";
import { explainedProblem } from "../text/explanations.ts";
import { ProblemMessage } from "../ui/problem-message.tsx";

type Props = { readonly problem: Error };

/** Why a sign-in did not succeed. The service never says whether a person has the address. */
export function SignInProblem({ problem }: Props) {
  const { t } = useTranslation();
  if (isProblem(problem, "sign-in-failed"))
    return (
      <Alert color="red" variant="light" role="alert">
        {explainedProblem(problem)}
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
