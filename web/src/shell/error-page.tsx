import { Container } from "@mantine/core";
import { useQueryErrorResetBoundary } from "@tanstack/react-query";
import { type ErrorComponentProps, useRouter } from "@tanstack/react-router";
import { ProblemMessage } from "../ui/problem-message.tsx";

/** What a page shows that cannot be shown. Its button loads the page's data again. */
export function ErrorPage({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const queries = useQueryErrorResetBoundary();
  const retry = async () => {
    queries.reset();
    await router.invalidate();
    reset();
  };
  return (
    <Container size="xs" py="xl">
      <ProblemMessage error={error} retry={() => void retry()} />
    </Container>
  );
}
