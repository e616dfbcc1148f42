import { z } from 'zod'
import { compileText } from '../template/compile-template.ts'
import { parseTextTemplate } from '../template/parse-template.ts'
import { MessageScope } from '../template/template-scope.ts'
import type { TransformError, TransformInput } from '../transform.ts'

const reserved = new Set([
  'specversion',
  'id',
  'source',
  'type',
  'subject',
  'time',
  'datacontenttype',
  'dataschema',
  'data',
  'database64',
])
const extensionName = z
  .string()
  .regex(/^[a-z0-9]{1,20}$/)
  .refine((name) => !reserved.has(name))

const text = (maxLength: number) =>
  z
    .string({ error: 'must be text' })
    .min(1, { error: 'must not be empty' })
    .max(maxLength, { error: `must have at most ${maxLength} characters` })

export const cloudeventsConfig = z.strictObject({
  type: z.literal('cloudevents').optional(),
  mode: z.enum(['structured', 'binary'], { error: 'must be "structured" or "binary"' }).default('structured'),
  source: text(2048),
  subject: text(2048).optional(),
  dataschema: text(2048).optional(),
  /** For messages that were sent without a type, which CloudEvents requires. */
  defaultEventType: text(255).optional(),
  extensions: z
    .record(extensionName, z.union([text(2048), z.int32(), z.boolean()]), {
      error: (issue) =>
        issue.code === 'invalid_key'
          ? 'must have names of 1 to 20 lower-case letters and digits, other than the attributes that CloudEvents has itself'
          : 'must be an object of texts, whole numbers and booleans',
    })
    .default({}),
})

export type CloudeventsConfig = z.output<typeof cloudeventsConfig>
export type AttributeValue = string | number | boolean
export type Attributes = ReadonlyMap<string, AttributeValue>

export type AttributesResult =
  | { readonly ok: true; readonly attributes: Attributes }
  | { readonly ok: false; readonly error: TransformError }

type Attribute = (scope: MessageScope) => AttributeValue | undefined

/** Servers refuse requests with more than 8 to 16 KiB of headers in total. */
const maxValueLength = 2048
/** The spec's String type excludes control characters and noncharacters. */
// oxlint-disable-next-line no-control-regex
const forbidden = /[\u0000-\u001f\u007f-\u009f\ufffe\uffff]|\p{Surrogate}/u
const uriReference = /^[^\s"<>\\^`{|}]+$/

/** The context attributes of each message, from the transform's configuration. */
export function compileAttributes(config: CloudeventsConfig): {
  readonly isCacheable: boolean
  of(input: TransformInput): AttributesResult
} {
  let isCacheable = true
  const texts: [name: string, attribute: Attribute][] = []
  for (const name of ['source', 'subject', 'dataschema'] as const) {
    const template = config[name]
    if (template !== undefined) texts.push([name, compile(template, name)])
  }
  for (const [name, value] of Object.entries(config.extensions)) {
    texts.push([name, typeof value === 'string' ? compile(value, `extensions.${name}`) : () => value])
  }

  function compile(template: string, path: string): Attribute {
    const compiled = compileText(parseTextTemplate(template, path), path, 'omit')
    isCacheable &&= compiled.isCacheable
    return compiled.render
  }

  function of(input: TransformInput): AttributesResult {
    const type = input.eventType ?? config.defaultEventType
    if (type === undefined) {
      return refuse(
        'cloudevents_missing_type',
        'CloudEvents needs a type and this message has none. Send it with one, or set "defaultEventType".',
      )
    }
    const scope = new MessageScope(input)
    const attributes = new Map<string, AttributeValue>([
      ['specversion', '1.0'],
      ['id', input.messageId],
      ['type', type],
      ['time', new Date(input.createdAtMs).toISOString()],
      ['datacontenttype', 'application/json'],
    ])
    for (const [name, attribute] of texts) {
      const value = attribute(scope)
      // An optional attribute is absent or has a value; empty text is neither.
      if (value !== undefined && value !== '') attributes.set(name, value)
    }
    return checked(attributes)
  }

  return { isCacheable, of }
}

function checked(attributes: Attributes): AttributesResult {
  const source = attributes.get('source')
  if (typeof source !== 'string' || !uriReference.test(source)) {
    return refuse(
      'cloudevents_invalid_value',
      `source must be a URI or a path; for this message it is ${show(source)}.`,
    )
  }
  for (const [name, value] of attributes) {
    if (typeof value === 'string' && value.length > maxValueLength) {
      return refuse(
        'cloudevents_invalid_value',
        `${name} takes at most ${maxValueLength} characters; it has ${value.length}.`,
      )
    }
    if (typeof value === 'string' && forbidden.test(value)) {
      return refuse(
        'cloudevents_invalid_value',
        `${name} may not have control characters or broken Unicode; it is ${show(value)}.`,
      )
    }
  }
  return { ok: true, attributes }
}

function show(value: unknown): string {
  return JSON.stringify(value ?? null).slice(0, 200)
}

function refuse(code: string, message: string): AttributesResult {
  return { ok: false, error: { code, message } }
}
