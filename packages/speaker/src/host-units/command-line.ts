/** Words as a command line of systemd (systemd.service(5), "COMMAND LINES"): no specifier, variable or escape is meant. */
export function commandLine(words: readonly string[]): string {
  return words.map(quoted).join(' ');
}

function quoted(word: string): string {
  const literal = word.replaceAll('%', '%%').replaceAll('$', '$$$$');
  return /^[\w./:@%$=-]+$/.test(literal)
    ? literal
    : `"${literal.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
