import { z } from 'zod'
import { rolesWith } from '../core/access/roles.ts'
import { errorCatalogue } from '../core/errors.ts'
import { version } from '../version.ts'
import { fieldDescriptions } from './field-descriptions.ts'
import type { Operation } from './operation.ts'
import { operations } from './operations.ts'
import { problemShape } from './problem.ts'
import { readersSchema } from './read-as.ts'

type Json = Record<string, unknown>

const componentsPath = '#/components/schemas/'

const description =
  'Reliable delivery of events, webhooks and background jobs. Nothing lost. Errors are `application/problem+json` with a stable `code`.'

/** The OpenAPI 3.1 document of the whole API, generated from the contract. */
export function describeApi(): Json {
  const components = new Components()
  const paths: Record<string, Json> = {}
  for (const operation of Object.values(operations).flatMap(
    (group) => Object.values(group) as unknown as Operation[],
  )) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: describeOperation(operation, components),
    }
  }
  paths['/v1/stream'] = { get: describeStream(components) }
  return {
    openapi: '3.1.0',
    info: { title: 'Holdfast', version, description, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/', description: 'This node' }],
    security: [{ key: [] }],
    tags: tagsOf(paths),
    paths,
    components: {
      schemas: components.sorted(),
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', description: 'An API key: `Authorization: Bearer hf_…`' },
      },
    },
  }
}

function describeOperation(operation: Operation, components: Components): Json {
  const { id, tag, summary, params, query, body, status, result, isBodyOptional } = operation
  const { permission } = operation
  const roles = permission === 'any' ? 'any' : rolesWith(permission).join(', ')
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: [operation.description, `Roles: ${roles}.`].filter(Boolean).join(' '),
    parameters: [
      ...parametersOf(params, 'path', components),
      ...parametersOf(query, 'query', components),
      ...(operation.method === 'GET' ? [] : [idempotencyKey]),
    ],
    ...(body !== null && {
      requestBody: {
        required: !isBodyOptional,
        content: { 'application/json': { schema: components.reference(body) } },
      },
    }),
    responses: {
      [status]: {
        description: status === 204 ? 'Done.' : 'Success.',
        ...(status !== 204 && { content: { 'application/json': { schema: components.reference(result) } } }),
      },
      ...problemsOf(operation, components),
    },
  }
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Repeating a request with the same key has one effect and returns the same response, for 24 hours.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
}

function parametersOf(shape: z.ZodObject, place: 'path' | 'query', components: Components): Json[] {
  const { properties = {}, required = [] } = toJsonSchema(shape, components) as {
    properties?: Json
    required?: string[]
  }
  return Object.entries(properties).map(([name, schema]) => {
    const { description: about, ...rest } = schema as Json
    const isRequired = place === 'path' || required.includes(name)
    return {
      name,
      in: place,
      required: isRequired,
      ...(about !== undefined && { description: about }),
      schema: rest,
    }
  })
}

const commonProblems: Readonly<Record<number, string>> = {
  400: 'The body is not valid JSON, or the HTTP request is malformed.',
  401: 'The API key is missing, unknown, expired or revoked.',
  403: 'The API key does not have this permission.',
  409: 'Another request with this Idempotency-Key is still in progress.',
  413: 'The body is too large.',
  415: 'The body is not application/json.',
  422: 'The input is invalid; `problems` lists each invalid field.',
  429: 'Too many requests; try again after Retry-After.',
  503: 'The database is unavailable or the node is stopping; try again after Retry-After.',
}

function problemsOf(operation: Operation, components: Components): Json {
  const { errors, method } = operation
  // Every call can return these: one that takes no body or query refuses a request that has one.
  const statuses = new Set([
    400,
    401,
    403,
    422,
    429,
    503,
    ...(method === 'GET' ? [] : [409, 413, 415]),
    ...errors.map((code) => errorCatalogue[code].status),
  ])
  const described = [...statuses]
    .sort((first, second) => first - second)
    .map((status) => {
      const codes = errors
        .filter((code) => errorCatalogue[code].status === status)
        .map((code) => `\`${code}\``)
      const about = [commonProblems[status], codes.join(', ')].filter(Boolean).join(' ')
      return [status, problemAnswer(about, components)] as const
    })
  return Object.fromEntries(described)
}

function problemAnswer(about: string, components: Components): Json {
  return {
    description: about,
    content: { 'application/problem+json': { schema: components.reference(problemShape) } },
  }
}

function describeStream(components: Components): Json {
  return {
    operationId: 'followStream',
    tags: ['Stream'],
    summary: 'Stream changes as server-sent events',
    description:
      '`change` (an audit log entry), `dead_letter`, `attempts` (a sample of live traffic, with the number of omitted attempts), `totals`, and `reset` when too many events were missed to send them. Roles: viewer, operator, admin.',
    parameters: [
      {
        name: 'detail',
        in: 'query',
        required: false,
        description:
          'With `brief`, `attempts` and `runs` come without entries: enough to know that there is traffic.',
        schema: { type: 'string', enum: ['full', 'brief'], default: 'full' },
      },
      {
        name: 'Last-Event-ID',
        in: 'header',
        required: false,
        description: 'The id of the last event received: the stream continues after it.',
        schema: { type: 'string' },
      },
    ],
    responses: {
      200: {
        description: 'The stream stays open until either side closes it.',
        content: { 'text/event-stream': { schema: { type: 'string' } } },
      },
      401: problemAnswer(commonProblems[401] ?? '', components),
      403: problemAnswer(commonProblems[403] ?? '', components),
      422: problemAnswer('`invalid_request`', components),
      503: problemAnswer('`too_many_readers`', components),
    },
  }
}

const tagDescriptions: Readonly<Record<string, string>> = {
  Events: 'Publish events and look up their deliveries.',
  Endpoints: 'Destinations of messages, with their health.',
  Routes: 'Which events go to which endpoint, and how they are transformed.',
  'Event types': 'Types of events, with their schemas.',
  Deliveries: 'A delivery is one message for one endpoint.',
  'Dead letters': 'Deliveries and runs that failed and are not retried automatically.',
  Operations: 'Bulk operations in the background: preview, progress, pause, cancel.',
  Replays: 'Send archived events again.',
  Jobs: 'Background jobs: settings, triggers, pause and resume.',
  Runs: 'Executions of jobs: state, logs, progress, result.',
  Schedules: 'When jobs are run automatically.',
  Queues: 'Queues of runs that workers share.',
  Workers: 'Processes that execute runs.',
  Alerts: 'Alerts, the rules that raise them, and the channels they are sent to.',
  Maintenance: 'Maintenance tasks, run by one leader node.',
  Overview: 'Overview of the installation.',
  Access: 'API keys, roles and the audit log.',
  Stream: 'Live stream of changes.',
}

function tagsOf(paths: Readonly<Record<string, Json>>): Json[] {
  const names = Object.values(paths).flatMap((item) =>
    Object.values(item).flatMap((operation) => (operation as { tags: string[] }).tags),
  )
  return [...new Set(names)].map((name) => ({ name, description: tagDescriptions[name] ?? name }))
}

/** Named schemas, which are written once and referenced. */
class Components {
  readonly #schemas = new Map<string, unknown>()

  /** A reference to the schema if it has a name, otherwise the schema itself. */
  reference(schema: z.ZodType): unknown {
    const toReaders = readersSchema(schema)
    if (toReaders !== undefined) return this.reference(toReaders)
    const { $defs = {}, ...whole } = toJsonSchema(schema, this) as Json & { $defs?: Json }
    const { id: name, examples } = z.globalRegistry.get(schema) ?? {}
    for (const [each, definition] of Object.entries($defs)) {
      // Zod omits the examples of a schema that transforms its input.
      this.#add(
        each,
        each === name && examples !== undefined ? { ...(definition as Json), examples } : definition,
      )
    }
    if (name === undefined || '$ref' in whole) {
      return pointToComponents(examples === undefined || '$ref' in whole ? whole : { ...whole, examples })
    }
    this.#add(name, whole)
    return { $ref: `#/components/schemas/${name}` }
  }

  sorted(): Json {
    const sorted = [...this.#schemas].sort(([first], [second]) => (first < second ? -1 : 1))
    return Object.fromEntries(sorted.map(([name, schema]) => [name, this.#withMapping(schema as Json)]))
  }

  /** Adds which value of the discriminator selects which schema. */
  #withMapping(schema: Json): Json {
    const { discriminator, oneOf } = schema as {
      discriminator?: { propertyName: string }
      oneOf?: { $ref: string }[]
    }
    if (discriminator === undefined || oneOf === undefined) return schema
    const mapping = oneOf.map(({ $ref }) => {
      const member = this.#schemas.get($ref.replace(componentsPath, '')) as {
        properties: Record<string, Json>
      }
      return [member.properties[discriminator.propertyName]?.['const'], $ref]
    })
    return { ...schema, discriminator: { ...discriminator, mapping: Object.fromEntries(mapping) as Json } }
  }

  #add(name: string, schema: unknown): void {
    const { id: _, ...rest } = schema as Json
    const written = withDescriptions(name, pointToComponents(rest) as Json)
    const known = this.#schemas.get(name)
    if (known !== undefined && !isSameSchema(known, written)) {
      throw new Error(`two schemas of the contract are called "${name}"`)
    }
    this.#schemas.set(name, { ...(known as Json | undefined), ...written })
  }
}

function isSameSchema(first: unknown, second: unknown): boolean {
  const bare = (schema: Json) => JSON.stringify({ ...schema, examples: undefined })
  return bare(first as Json) === bare(second as Json)
}

/** The wire format is the input of our codecs, in both directions. */
function toJsonSchema(schema: z.ZodType, components: Components): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const toReaders = readersSchema(zodSchema as unknown as z.ZodType)
      if (toReaders !== undefined) {
        for (const key of Object.keys(jsonSchema)) delete jsonSchema[key]
        Object.assign(jsonSchema, components.reference(toReaders))
      }
      const { discriminator, options = [] } = zodSchema._zod.def as {
        discriminator?: string
        options?: readonly z.ZodType[]
      }
      // The mapping from a value to its schema uses the schema's name.
      if (discriminator !== undefined && [zodSchema, ...options].every(hasName)) {
        jsonSchema['discriminator'] = { propertyName: discriminator }
      }
    },
  })
  return rest
}

function hasName(schema: z.core.$ZodType): boolean {
  return z.globalRegistry.get(schema)?.id !== undefined
}

/** Descriptions that all schemas share. */
const times: Readonly<Record<string, string>> = {
  createdAt: 'When it was created.',
  updatedAt: 'When it was last changed.',
}

/** Adds the doc comments of the SDK's types as descriptions of fields; a schema's own description takes precedence. */
function withDescriptions(name: string, schema: Json): Json {
  const descriptions =
    fieldDescriptions[name] ??
    fieldDescriptions[`${name.replace('Created', '')}Input`] ??
    fieldDescriptions[name.replace(/Changes$/, 'Input')] ??
    {}
  const { properties } = schema as { properties?: Record<string, Json> }
  if (properties === undefined) return schema
  const described = Object.entries(properties).map(([field, each]) => {
    const description = each['description'] ?? descriptions[field] ?? times[field]
    return [field, description === undefined ? each : { ...each, description }]
  })
  return { ...schema, properties: Object.fromEntries(described) as Json }
}

/** Makes references point to the components, and removes variants that don't exist in JSON (a Date beside its text). */
function pointToComponents(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (key, part: unknown) => {
    if (key === '$ref' && typeof part === 'string') return part.replace('#/$defs/', '#/components/schemas/')
    if (hasChoices(part)) return withoutEmptyChoices(part)
    return isTime(part) ? { type: 'string', format: 'date-time' } : part
  }) as unknown
}

/** The format is sufficient; the validation pattern doesn't help a reader. */
function isTime(part: unknown): boolean {
  return (
    typeof part === 'object' && part !== null && (part as Json)['format'] === 'date-time' && 'pattern' in part
  )
}

function hasChoices(part: unknown): part is Json & { anyOf: Json[] } {
  return typeof part === 'object' && part !== null && Array.isArray((part as Json)['anyOf'])
}

function withoutEmptyChoices({ anyOf, ...rest }: Json & { anyOf: Json[] }): Json {
  const choices = anyOf.filter((choice) => Object.keys(choice).length > 0)
  return choices.length === 1 ? { ...choices[0], ...rest } : { anyOf: choices, ...rest }
}
