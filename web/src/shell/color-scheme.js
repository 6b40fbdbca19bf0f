// Runs before the page is drawn. The console's own code (theme.ts) keeps the choice under the same name.
(() => {
  const chosen = stored();
  const isDark =
    chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.setAttribute("data-mantine-color-scheme", isDark ? "dark" : "light");

  // A browser that stores nothing throws.
  function stored() {
    try {
      return localStorage.getItem("color-scheme");
    } catch {
      return null;
    }
  }
})();
