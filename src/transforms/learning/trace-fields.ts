import { LearningError } from './learning-error.ts'

type Path = readonly (string | number)[]
type Make = (event: unknown, config: object) => Promise<readonly object[]>

const maxTracedLeaves = 500

/**
 * Determines by experiment where each field came from: it changes one value of the event or of the settings at a time, and compares which fields
 * change. So it can't disagree with the mapping, and the mapping needs no annotations.
 */
export async function traceFields(
  format: string,
  event: unknown,
  config: object,
  make: Make,
): Promise<Record<string, string>> {
  // Look-ups of learners and courses would hide the fields that they depend on.
  const transparent = {
    ...config,
    actor: { type: 'account', from: 'hash', key: 'a key for the experiment', ...identifierOf(config) },
    courses: { from: 'none' },
  }
  const before = fieldsOf(await make(event, transparent))
  const sources = new Map<string, string[]>([...before.keys()].map((field) => [field, []]))
  const note = async (source: string, changedEvent: unknown, changedConfig: object) => {
    const after = fieldsOf(await madeOrNothing(() => make(changedEvent, changedConfig)))
    if (after.size === 0) return
    for (const [field, value] of before) {
      const found = sources.get(field)
      if (after.get(field) !== value && found !== undefined && found.at(-1) !== source) found.push(source)
    }
  }
  await note('platformUrl', event, { ...transparent, platformUrl: 'https://another-platform.example' })
  for (const [path, value] of leavesOf(event).slice(0, maxTracedLeaves)) {
    if (path.length === 1 && (path[0] === 'name' || path[0] === 'event_type')) continue
    for (const other of othersThan(value))
      await note(path.join('.'), withValue(event, path, other), transparent)
  }
  // In the experiment the actor is an account, whatever the real configuration says.
  const ofActor = (field: string) => sources.get(field.replace(/\.actor\..*$/, '.actor.account.name')) ?? []
  const fields = fieldsOf(await make(event, config)).keys()
  return Object.fromEntries(
    [...fields].map((field) => [
      `${format}${field}`,
      describe(field, sources.get(field) ?? ofActor(field), config),
    ]),
  )
}

function describe(field: string, sources: readonly string[], config: object): string {
  if (/transformer-?version/i.test(field) || /^\[\d+\]\.(?:version|@context)$/.test(field)) return 'holdfast'
  // Only the event's name determines this field.
  if (sources.length === 0) return 'name'
  const { actor, courses } = config as { actor?: { from?: string }; courses?: { from?: string } }
  if (/\.actor\./.test(field) && sources.some((source) => /user(?:name|_id)$/.test(source)))
    return `${sources.join(', ')} (actor.${actor?.from ?? 'hash'})`
  const isName = /\.name(?:\.|$)/.test(field) && sources.some((source) => source.endsWith('course_id'))
  if (isName && courses?.from !== undefined && courses.from !== 'none')
    return `${sources.join(', ')} (courses.${courses.from})`
  return sources.join(', ')
}

function identifierOf(config: object): object {
  const { actor } = config as { actor?: { identifier?: unknown } }
  return actor?.identifier === undefined ? {} : { identifier: actor.identifier }
}

async function madeOrNothing(work: () => Promise<readonly object[]>): Promise<readonly object[]> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof LearningError) return []
    throw error
  }
}

/** Changed values that a mapping accepts in place of the original. */
function othersThan(value: unknown): readonly unknown[] {
  if (typeof value === 'number') return [value + 1]
  if (typeof value === 'boolean') return [!value]
  if (typeof value !== 'string' || value === '') return []
  const year = /^(\d{4})(-\d\d-\d\d[T ].*)$/.exec(value)
  if (year !== null) return [`${Number(year[1]) + 4}${year[2]}`]
  if (value === 'correct' || value === 'incorrect') return [value === 'correct' ? 'incorrect' : 'correct']
  if (value.includes('input_')) return [value.replaceAll('input_', 'input_x')]
  return [`${value}x`]
}

function fieldsOf(items: readonly object[]): Map<string, unknown> {
  const fields = new Map<string, unknown>()
  for (const [path, value] of leavesOf(items)) {
    fields.set(path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join(''), value)
  }
  return fields
}

function leavesOf(value: unknown, path: Path = []): [Path, unknown][] {
  if (typeof value !== 'object' || value === null) return [[path, value]]
  if (Array.isArray(value)) return value.flatMap((each, index) => leavesOf(each, [...path, index]))
  return Object.entries(value).flatMap(([name, each]) => leavesOf(each, [...path, name]))
}

function withValue(root: unknown, path: Path, value: unknown): unknown {
  const [step, ...rest] = path
  if (step === undefined) return value
  if (Array.isArray(root))
    return root.map((each, index) => (index === step ? withValue(each, rest, value) : each))
  const fields = root as Record<string, unknown>
  return { ...fields, [step]: withValue(fields[step], rest, value) }
}
