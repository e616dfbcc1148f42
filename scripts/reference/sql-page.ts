import { code, table } from './table.ts'

/** The functions and views that users may rely on, from the list of promises. */
export function sqlPage(promises: string): string {
  const [, users = ''] = promises.split('# Users call and read these.\n')
  const lines = (users.split('\n#')[0] ?? '').trim().split('\n')
  const functions = lines.flatMap((line) => {
    const found = /^holdfast\.(\w+)\((.*)\) returns (.+)$/.exec(line)
    return found === null
      ? []
      : [{ name: found[1] ?? '', parameters: found[2] ?? '', returns: found[3] ?? '' }]
  })
  const views = lines.flatMap((line) => {
    const found = /^view holdfast\.(\w+) \((.*)\)$/.exec(line)
    return found === null ? [] : [[code(found[1] ?? ''), code(found[2] ?? '')]]
  })
  return [
    '## Functions',
    ...functions.map(
      ({ name, parameters, returns }) =>
        `### ${name}\n\n${table(['parameter', 'type', 'default'], splitParameters(parameters))}\n\nReturns ${code(returns)}.`,
    ),
    '## Views',
    table(['view', 'columns'], views),
  ].join('\n\n')
}

/** No type in these signatures contains a comma. */
function splitParameters(text: string): string[][] {
  if (text === '') return [['–', '', '']]
  return text.split(', ').map((parameter) => {
    const [, name = '', type = '', fallback] = /^(\w+) (.*?)(?: DEFAULT (.*))?$/.exec(parameter) ?? []
    return [code(name), code(type), fallback === undefined ? 'required' : code(fallback.replace(/::.*$/, ''))]
  })
}
