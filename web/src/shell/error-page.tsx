import { Container } from "@mantine/core";
import type { ErrorComponentProps } from "@tanstack/react-router";
import { ProblemMessage } from "../ui/problem-message.tsx";

/** What a page shows that cannot be shown. */
export const ErrorPage = ({ error, reset }: ErrorComponentProps) => (
  <Container size="xs" py="xl">
    <ProblemMessage error={error} retry={reset} />
  </Container>
);
