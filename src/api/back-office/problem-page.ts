/** The page at the address in a problem's `type`. */
export function problemPage(
  code: string,
  { status, title, meaning, retry }: { status: number; title: string; meaning: string; retry: string },
): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${code}: ${title}</title>
<style>body { font: 1rem/1.6 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem }</style>
<h1>${title}</h1>
<p><code>${code}</code>, status ${status}</p>
<h2>What it means</h2>
<p>${meaning}</p>
<h2>Retry?</h2>
<p>${retry}</p>
</html>
`;
}
