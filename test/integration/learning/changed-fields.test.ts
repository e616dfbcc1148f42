import { createRequire } from 'node:module'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, it } from 'vitest'
import { compileCaliper } from '../../../src/transforms/caliper/caliper-transform.ts'
import { isCaliperKind } from '../../../src/transforms/caliper/kinds.ts'
import { LearningError } from '../../../src/transforms/learning/learning-error.ts'
import { samples, several } from '../../../src/transforms/learning/sample-events.ts'
import { sampleInput } from '../../../src/transforms/sample-input.ts'
import { isXapiKind } from '../../../src/transforms/xapi/kinds.ts'
import { compileXapi } from '../../../src/transforms/xapi/xapi-transform.ts'
import { caliperEventSchema } from '../../support/record-store/caliper-schema.ts'
import { validateStatement } from '../../support/record-store/validate-statement.ts'

// It has no types.
const { default: validate } = createRequire(import.meta.url)('@learninglocker/xapi-validation') as {
  default: (statement: unknown) => { message?: string; path?: unknown }[]
}

const config = {
  platformUrl: 'https://learn.example',
  actor: { from: 'hash', key: 'a key that is long enough' },
}
const options = { readTable: async () => new Map<string, string>(), nowMs: () => 0 }
const xapi = compileXapi(config, options)
const caliper = compileCaliper(config, options)
const isCaliperEvent = new Ajv2020({ strict: false, allErrors: true }).compile(caliperEventSchema)

type Path = readonly (string | number)[]
type Tree = Record<string | number, unknown>

/** What a record store would say against each record, in either format. */
async function problemsOf(event: unknown): Promise<unknown[]> {
  const statements = await madeBy(xapi, event)
  const events = await madeBy(caliper, event)
  return [
    ...statements.flatMap((statement) => [...validate(statement), ...validateStatement(statement)]),
    ...events.flatMap((each) => (isCaliperEvent(each) ? [] : (isCaliperEvent.errors ?? []))),
  ]
}

/** Nothing for an event that is refused with a reason; any other error fails the test. */
async function madeBy(transform: typeof xapi | typeof caliper, event: unknown): Promise<readonly object[]> {
  try {
    return await transform.items(sampleInput(event))
  } catch (error) {
    if (error instanceof LearningError) return []
    throw error
  }
}

/** Everything in an event that has a value, objects and lists too. */
function pathsOf(value: unknown, path: Path = []): Path[] {
  const below =
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([name, each]) => pathsOf(each, [...path, name]))
      : []
  return path.length === 0 ? below : [path, ...below]
}

function changed(event: unknown, path: Path, value: unknown): unknown {
  const copy = structuredClone(event) as Tree
  let place = copy
  for (const step of path.slice(0, -1)) place = place[step] as Tree
  const last = path.at(-1) ?? ''
  if (value === undefined) delete place[last]
  else place[last] = value
  return copy
}

const odd: readonly unknown[] = [
  undefined,
  null,
  '',
  0,
  -1.5,
  1e300,
  true,
  false,
  'café 漢字 🦉',
  ' spaces, "quotes" <tags> {braces} [brackets] |\\^` 100% #1 ?q=1&r ',
  'a\ud800b',
  '12.5',
  [],
  ['a', 1, null],
  {},
  { a: { b: ['c'] } },
]

const everyKind = Object.entries({ ...samples, several })
/** The context is read alike for all kinds: its fields are changed in one of each family. */
const withContext = new Set([
  'pause_video',
  'problem_check',
  'edx.forum.thread.viewed',
  'edx.course.enrollment.activated',
])

it.each(everyKind)(
  'whatever is in one field of %s, it becomes valid records or is refused with a reason',
  async (name, event) => {
    for (const path of pathsOf(event)) {
      if (path[0] !== 'data' && !withContext.has(name)) continue
      for (const value of odd) {
        const given = changed(event, path, value)
        expect(await problemsOf(given), `${path.join('.')} = ${JSON.stringify(value)}`).toEqual([])
      }
    }
  },
)

/** By the documentation, what the platform calls its things, and what learners write as answers and titles. */
const isSent = [
  /^(?:name|timestamp)$/,
  /^context\.(?:course_id|session|module\.(?:display_name|usage_key))$/,
  /^data\.(?:id|course_id|block_id|problem_id|module_id|hint_index|discussion\.id)$/,
  /^data\.(?:mode|letter_grade|thread_type|vote_value|title|old_speed|new_speed)$/,
  /^data\.(?:target_url|target_name|current_url)$/,
  /^data\.(?:exam_content_id|exam_name|attempt_code|attempt_id|attempt_started_at|attempt_completed_at)$/,
  /^data\.(?:answers|submission)(?:\..*)?$/,
]
const canary = 'canary-8841'

it.each(everyKind)('a word in any other field of %s is not in what is sent', async (_, event) => {
  const everything = { ...event, ...unusedFields }
  for (const path of pathsOf(everything)) {
    const name = path.join('.')
    if (isSent.some((pattern) => pattern.test(name))) continue
    const given = changed(everything, path, canary)
    const sent = [...(await madeBy(xapi, given)), ...(await madeBy(caliper, given))]
    expect(JSON.stringify(sent), name).not.toContain(canary)
  }
})

/** What log lines have beside the fields of a routed event. */
const unusedFields = {
  username: 'ada',
  ip: '203.0.113.7',
  agent: 'a browser',
  host: 'learn.example',
  page: 'https://learn.example/page',
  referer: 'https://learn.example/referer',
  accept_language: 'de',
  email: 'ada@mail.example',
}

it('every kind of both formats is among these events', () => {
  const names = new Set(everyKind.map(([, event]) => String(event['name'])))
  for (const name of names) expect(isXapiKind(name) || isCaliperKind(name)).toBe(true)
  expect(names.size).toBe(57)
})
