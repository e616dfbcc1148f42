import type { SeededRandom } from '../../torture/seeded-random.ts'
import type { ApiDocument, DescribedOperation, DescribedParameter, Json } from './api-document.ts'
import {
  brokenBodies,
  extremeNumbers,
  extremeTimes,
  hostileJson,
  hostileQueryValues,
  hostileSegments,
  wrongContentTypes,
} from './hostile-values.ts'

export interface HostileRequest {
  /** For the reader of a failure. */
  readonly what: string
  readonly method: string
  /** With its query, as it goes over the wire. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer | null
  /** Fields that don't exist: the answer must name each. */
  readonly unknownFields: readonly string[]
}

export interface HostileOptions {
  readonly document: ApiDocument
  readonly random: SeededRandom
  /** How many values are tried on each field of a body and of a query. */
  readonly valuesPerField: number
  /** What stands in a path where nothing hostile does. */
  readonly params: Readonly<Record<string, string>>
}

const strangers = ['confg', '__proto__', 'constructor', 'toString', 'a.b']

/** Everything that is done to one call, in an order that the seed decides nothing about but the values. */
export function hostileRequests(operation: DescribedOperation, options: HostileOptions): HostileRequest[] {
  const plain = plainRequest(operation, options)
  return [
    ...hostilePaths(operation, plain, options),
    ...hostileQueries(operation, plain, options),
    ...hostileHeaders(plain),
    ...extremeRequests(operation, plain, options),
    ...(operation.body === null ? [unwantedBody(plain)] : hostileBodies(operation.body, plain, options)),
  ]
}

function plainRequest(operation: DescribedOperation, { params }: HostileOptions): HostileRequest {
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const described = operation.parameters.find((each) => each.in === 'path' && each.name === name)
    return params[name] ?? described?.schema.examples?.[0] ?? 'x'
  })
  const example = (operation.body?.['examples'] as unknown[] | undefined)?.[0]
  return {
    what: 'plain',
    method: operation.method,
    path,
    headers: {},
    body: example === undefined ? null : JSON.stringify(example),
    unknownFields: [],
  }
}

function hostilePaths(
  operation: DescribedOperation,
  plain: HostileRequest,
  { random, valuesPerField }: HostileOptions,
): HostileRequest[] {
  const [before, after] = operation.path.split(/\{\w+\}/)
  if (after === undefined) return []
  return sample(hostileSegments, valuesPerField * 2, random).map((segment) => ({
    ...plain,
    what: `path ${segment.slice(0, 40)}`,
    path: `${before}${segment}${after}`,
  }))
}

function hostileQueries(
  operation: DescribedOperation,
  plain: HostileRequest,
  { random, valuesPerField }: HostileOptions,
): HostileRequest[] {
  const known = operation.parameters.filter((each): each is DescribedParameter => each.in === 'query')
  const withQuery = (query: string, unknownFields: readonly string[] = []): HostileRequest => ({
    ...plain,
    what: `query ${query.slice(0, 60)}`,
    path: `${plain.path}?${query}`,
    unknownFields,
  })
  return [
    ...known.flatMap(({ name }) =>
      sample(hostileQueryValues, valuesPerField, random).map((value) => withQuery(`${name}=${value}`)),
    ),
    ...known.slice(0, 1).map(({ name }) => withQuery(`${name}=1&${name}=2`)),
    withQuery('confg=1', ['confg']),
    withQuery('__proto__=1&constructor=2', ['__proto__', 'constructor']),
    withQuery('limit[gt]=1', ['limit[gt]']),
    withQuery(Array.from({ length: 1500 }, (_, index) => `q${index}=1`).join('&')),
    withQuery('&&=&=&'),
  ]
}

function hostileHeaders(plain: HostileRequest): HostileRequest[] {
  const isWrite = plain.method !== 'GET'
  const withHeaders = (headers: Record<string, string>): HostileRequest => ({
    ...plain,
    what: `headers ${JSON.stringify(headers).slice(0, 60)}`,
    headers,
  })
  return [
    withHeaders({ 'x-request-id': '../../\u00ff"<script>' }),
    withHeaders({
      accept: 'application/xml;q=0',
      'accept-encoding': '\u00e9',
      cookie: '=;;=%;holdfast_session=%00',
    }),
    ...(isWrite
      ? [
          withHeaders({ 'idempotency-key': 'k'.repeat(300) }),
          withHeaders({ 'idempotency-key': '' }),
          withHeaders({ 'idempotency-key': '\u00ff\u0080' }),
        ]
      : []),
  ]
}

function unwantedBody(plain: HostileRequest): HostileRequest {
  return { ...plain, what: 'a body where none is taken', body: '{"confg":1}' }
}

function hostileBodies(schema: Json, plain: HostileRequest, options: HostileOptions): HostileRequest[] {
  const { random, valuesPerField, document } = options
  const example = JSON.parse(String(plain.body ?? '{}')) as Json
  const withBody = (what: string, body: string | Buffer, unknownFields: readonly string[] = []) => ({
    ...plain,
    what: `${what}: ${body.toString().slice(0, 60)}`,
    body,
    unknownFields,
  })
  return [
    ...sample(hostileJson, valuesPerField * 2, random).map((json) => withBody('body', json)),
    ...sample(brokenBodies, valuesPerField * 2, random).map((body) => withBody('broken body', body)),
    ...sample(wrongContentTypes, valuesPerField, random).map((type) => ({
      ...plain,
      what: `content-type ${type}`,
      headers: { 'content-type': type },
    })),
    ...fieldsOf(schema, document).flatMap((path) =>
      sample(hostileJson, valuesPerField, random).map((json) =>
        withBody(path.join('.'), withField(example, path, json)),
      ),
    ),
    ...strangers.map((name) => withBody('unknown field', withField(example, [name], '1'), [name])),
    ...nestedObjects(schema, document).map((path) =>
      withBody('unknown nested field', withField(example, [...path, 'confg'], '1'), [
        [...path, 'confg'].join('.'),
      ]),
    ),
  ]
}

/** Every time and every number of a call, and every JSON that is stored as it comes, at their edges. */
function extremeRequests(
  { parameters, body }: DescribedOperation,
  plain: HostileRequest,
  { document }: HostileOptions,
): HostileRequest[] {
  const queries = parameters
    .filter((each) => each.in === 'query')
    .flatMap(({ name, schema }) =>
      extremesOf(schema as unknown as Json, document)
        // A line of a request may be 32 KiB long.
        .filter((json) => json.length < 1000)
        .map((json) => {
          const value = encodeURIComponent(json.replace(/^"|"$/g, ''))
          return { ...plain, what: `query ${name}=${value}`, path: `${plain.path}?${name}=${value}` }
        }),
    )
  if (body === null) return queries
  const example = JSON.parse(String(plain.body ?? '{}')) as Json
  const bodies = fieldsOf(body, document).flatMap((path) =>
    extremesOf(schemaAt(body, path, document), document).map((json) => ({
      ...plain,
      what: `${path.join('.')} = ${json.slice(0, 60)}`,
      body: withField(example, path, json),
    })),
  )
  return [...queries, ...bodies]
}

function extremesOf(schema: Json, document: ApiDocument): string[] {
  const whole = document.resolve(schema)
  const choices = [...((whole['anyOf'] ?? []) as Json[]), ...((whole['oneOf'] ?? []) as Json[])]
  if (choices.length > 0) return [...new Set(choices.flatMap((choice) => extremesOf(choice, document)))]
  if (whole['format'] === 'date-time') return extremeTimes.map((time) => JSON.stringify(time))
  if (whole['type'] === 'number' || whole['type'] === 'integer') return [...extremeNumbers]
  const isFree =
    whole['type'] === undefined || (whole['type'] === 'object' && whole['properties'] === undefined)
  return isFree ? extremeNumbers.flatMap((number) => [`{"a":[${number}]}`, number]) : []
}

function schemaAt(schema: Json, [name = '', ...rest]: readonly string[], document: ApiDocument): Json {
  const inner = propertiesOf(schema, document)[name] ?? {}
  return rest.length === 0 ? inner : schemaAt(inner, rest, document)
}

/** The fields of a body and those of the objects right inside it. */
function fieldsOf(schema: Json, document: ApiDocument): string[][] {
  return Object.entries(propertiesOf(schema, document)).flatMap(([name, inner]) => [
    [name],
    ...Object.keys(propertiesOf(inner, document)).map((field) => [name, field]),
  ])
}

/** Objects whose fields are all known. */
function nestedObjects(schema: Json, document: ApiDocument): string[][] {
  return Object.entries(propertiesOf(schema, document))
    .filter(([, inner]) => document.resolve(inner)['additionalProperties'] === false)
    .map(([name]) => [name])
}

function propertiesOf(schema: Json, document: ApiDocument): Record<string, Json> {
  const whole = document.resolve(schema)
  const choices = [...((whole['anyOf'] ?? []) as Json[]), ...((whole['oneOf'] ?? []) as Json[])]
  return Object.assign(
    {},
    ...choices.map((choice) => propertiesOf(choice, document)),
    whole['properties'] ?? {},
  ) as Record<string, Json>
}

/** JSON text, not an object: some values can only be written as text. */
function withField(example: Json, [name = '', ...rest]: readonly string[], json: string): string {
  const inner = example[name]
  const value =
    rest.length === 0
      ? json
      : withField((typeof inner === 'object' && inner !== null ? inner : {}) as Json, rest, json)
  const others = Object.entries(example).filter(([key]) => key !== name)
  const fields = others.map(([key, field]) => `${JSON.stringify(key)}:${JSON.stringify(field)}`)
  return `{${[...fields, `${JSON.stringify(name)}:${value}`].join(',')}}`
}

function sample<Item>(items: readonly Item[], count: number, random: SeededRandom): Item[] {
  const left = [...items]
  return Array.from({ length: Math.min(count, left.length) }, () => {
    const [item] = left.splice(random.between(0, left.length), 1)
    return item as Item
  })
}
