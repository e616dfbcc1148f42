/** Maximum number of keys and indexes in a path. */
const maxSteps = 32

/**
 * The path of a value in a payload, as keys and indexes. Undefined if the text is not a path.
 *
 * @example parsePayloadPath('items[0].sku') // ['items', '0', 'sku']
 * @example parsePayloadPath('$."first name"') // ['first name']
 */
export function parsePayloadPath(text: string): readonly string[] | undefined {
  const steps: string[] = []
  const step = /(?:^|\.)(?:"((?:[^"\\]|\\.)+)"|([^.[\]"]+))|\[(\d+)\]/y
  let at = text.startsWith('$.') ? 2 : text.startsWith('$[') ? 1 : 0
  const rest = text.slice(at)
  for (at = 0; at < rest.length; at = step.lastIndex) {
    step.lastIndex = at
    const found = step.exec(rest)
    if (found === null || steps.length === maxSteps) return undefined
    const [, quoted, plain, place] = found
    steps.push(quoted?.replace(/\\(.)/g, '$1') ?? plain ?? place ?? '')
  }
  return steps.length === 0 ? undefined : steps
}
