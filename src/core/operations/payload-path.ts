/** Keys and places, one after the other; a deeper payload is nobody's. */
const maxSteps = 32

/**
 * Where in a payload a value is, as keys and places. Undefined when the text is no path.
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
