import { z } from 'zod'
import { parseEventTypePattern } from '../../core/routes/event-type-pattern.ts'

const urlAdvice = 'must be the address of the platform, like https://learn.example'

const platformUrl = z
  .string({ error: urlAdvice })
  .max(2000, { error: urlAdvice })
  .refine((text) => /^https?:$/.test(safeUrl(text)?.protocol ?? ''), { error: urlAdvice })

const maxMapEntries = 10_000

const nameMap = z
  .record(z.string(), z.string({ error: 'must have text values' }), {
    error: 'must be an object of keys to texts; the key "*" means all others',
  })
  .refine((map) => Object.keys(map).length <= maxMapEntries, {
    error: `must have at most ${maxMapEntries} entries: use a table instead`,
  })

const tableAdvice =
  'must be the name of a table with the columns "key" and "value", like "public.learners"; tables of Holdfast and of PostgreSQL itself are not allowed'

const tableName = z
  .string({ error: tableAdvice })
  .regex(/^[a-z_][a-z0-9_]{0,62}(?:\.[a-z_][a-z0-9_]{0,62})?$/, { error: tableAdvice })
  .refine((name) => !/^(?:holdfast|holdfast_internal|information_schema|pg_\w+)(?:\.|$)/.test(name), {
    error: tableAdvice,
  })

const minKeyLength = 16
const keyAdvice = `must be a secret of at least ${minKeyLength} characters. Generate one with: openssl rand -base64 32`

const actor = z
  .strictObject({
    type: z
      .enum(['account', 'mbox', 'mbox_sha1sum'], { error: 'must be "account", "mbox" or "mbox_sha1sum"' })
      .default('account'),
    from: z.enum(['hash', 'map', 'table'], { error: 'must be "hash", "map" or "table"' }),
    identifier: z
      .enum(['username', 'user_id'], { error: 'must be "username" or "user_id"' })
      .default('username'),
    key: z.string({ error: keyAdvice }).min(minKeyLength, { error: keyAdvice }).optional(),
    map: nameMap.optional(),
    table: tableName.optional(),
  })
  .superRefine((value, context) => {
    const complain = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message })
    if (value.from === 'hash' && value.type !== 'account') {
      complain(
        'from',
        `must be "map" or "table" for "${value.type}": an address can't be computed from a user name`,
      )
    }
    const needed = { hash: 'key', map: 'map', table: 'table' } as const
    for (const [source, field] of Object.entries(needed)) {
      if (value.from === source && value[field] === undefined)
        complain(field, `must be given for "from": "${source}"`)
      if (value.from !== source && value[field] !== undefined)
        complain(field, `is for "from": "${source}" only`)
    }
  })

const courses = z
  .strictObject({
    from: z.enum(['map', 'table', 'none'], { error: 'must be "map", "table" or "none"' }),
    map: nameMap.optional(),
    table: tableName.optional(),
  })
  .superRefine((value, context) => {
    for (const source of ['map', 'table'] as const) {
      if (value.from === source && value[source] === undefined)
        context.addIssue({ code: 'custom', path: [source], message: `must be given for "from": "${source}"` })
    }
  })

const outcome = (fallback: 'skip' | 'dead') =>
  z.enum(['skip', 'dead'], { error: 'must be "skip" or "dead"' }).default(fallback)

const eventPattern = z
  .string({ error: 'must be an event name or a pattern like "edx.course.**"' })
  .superRefine((text, context) => {
    const parsed = parseEventTypePattern(text)
    if (!parsed.ok) context.addIssue({ code: 'custom', message: parsed.problem.message })
  })

/** Fields that `xapi` and `caliper` share. */
export function learningConfig<Type extends 'xapi' | 'caliper'>(type: Type) {
  return z.strictObject({
    type: z.literal(type).optional(),
    platformUrl,
    actor,
    courses: courses.default({ from: 'none' }),
    /** Names or patterns of the events to transform; all others are skipped. */
    events: z
      .array(eventPattern, { error: 'must be a list of event names or patterns' })
      .max(200, { error: 'must have at most 200 entries' })
      .optional(),
    overrides: z
      .strictObject({ verb: z.unknown(), object: z.unknown(), extensions: z.unknown() })
      .partial()
      .default({}),
    ids: z
      .enum(['holdfast', 'compatible'], { error: 'must be "holdfast" or "compatible"' })
      .default('holdfast'),
    onUnknown: outcome('dead'),
    onAnonymous: outcome('dead'),
    onInvalid: outcome('dead'),
  })
}

export type LearningConfig = z.output<ReturnType<typeof learningConfig<'xapi' | 'caliper'>>>

function safeUrl(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}
