import type { SchemaDescription } from './describe.ts'

/** The lists of `src/sql/promised.txt`. */
export type Promises = Pick<SchemaDescription, 'promisedToUsers' | 'promisedToNodes'>

const usersHeading = '# Users call and read these.'
const nodesHeading =
  '# Nodes, workers and SDKs of released versions call these, beside a newer schema too. A new signature is a new function beside the old one.'

export function parsePromises(text: string): Promises {
  const [users = '', nodes = ''] = text.split(nodesHeading)
  const lines = (part: string) => part.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return { promisedToUsers: lines(users), promisedToNodes: lines(nodes) }
}

/** Whether a promise is kept: the same signature exists, or the view has further columns after the promised ones. */
export function isKept(promise: string, present: readonly string[]): boolean {
  return present.includes(promise) || present.some((line) => extendsView(line, promise))
}

function extendsView(line: string, promise: string): boolean {
  return promise.startsWith('view ') && line.startsWith(`${promise.slice(0, -1)}, `)
}

/** Lines are only ever added, except that the line of a view may grow. */
export function printPromises(listed: Promises, present: Promises): string {
  const merge = (first: readonly string[], second: readonly string[]) =>
    [...new Set([...first, ...second])]
      .filter((line, _, all) => !all.some((other) => extendsView(other, line)))
      .sort()
      .join('\n')
  return [
    usersHeading,
    merge(listed.promisedToUsers, present.promisedToUsers),
    '',
    nodesHeading,
    merge(listed.promisedToNodes, present.promisedToNodes),
    '',
  ].join('\n')
}
