/**
 * The words of the `holdfast` commands in a block of shell, one array each. It knows what documentation uses: quotes, continued lines, comments,
 * pipes and redirections; not a shell.
 */
export function holdfastCommands(text: string): string[][] {
  return text
    .replaceAll('\\\n', ' ')
    .split('\n')
    .flatMap((line) => {
      const found = /(?:^|[\s(])(?:npx holdfast|npm run -s holdfast --|holdfast) (.*)$/.exec(line)
      return found === null || /^\s*(#|location|\{)/.test(line) ? [] : [wordsOf(found[1] ?? '')]
    })
}

function wordsOf(text: string): string[] {
  const words: string[] = []
  for (const [, single, double, bare, end] of text.matchAll(
    /'([^']*)'|"((?:[^"\\]|\\.)*)"|([^\s'"|<>()#;]+|<[\w ]+>)|([|<>()#;])/g,
  )) {
    if (end !== undefined) break
    words.push(single ?? double ?? bare ?? '')
  }
  return words
}
