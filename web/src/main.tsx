import "./shell/mantine-styles.ts";
import "./shell/base.css";
import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ApiProblem } from "./api/problem.ts";
import { queryClient } from "./api/query-client.ts";
import { router } from "./routes.tsx";
import { colorSchemeManager, cssVariablesResolver, styleNonce, theme } from "./shell/theme.ts";
import { startTexts } from "./text/i18n.ts";
import { Announcements } from "./ui/announcements.tsx";

await startTexts();

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has the element.");
createRoot(root, {
  // A page shows the problems of its requests; only mistakes of the console are of interest beyond that.
  onCaughtError: (error) => {
    if (!(error instanceof ApiProblem)) reportError(error);
  },
}).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariablesResolver}
      colorSchemeManager={colorSchemeManager}
      defaultColorScheme="auto"
      getStyleNonce={() => styleNonce}
    >
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
        <Announcements />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
