import { code, table } from './table.ts'

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema?: { readonly type?: string; readonly enum?: readonly string[]; readonly default?: unknown }
}

interface Operation {
  readonly tags: readonly string[]
  readonly summary: string
  readonly description?: string
  readonly parameters?: readonly Parameter[]
  readonly responses: Readonly<Record<string, unknown>>
}

export interface ApiDocument {
  readonly tags: readonly { readonly name: string; readonly description?: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

/** Every call of the API, by its subject. Fields of bodies are in the OpenAPI document, which a server shows at /docs. */
export function apiPage({ tags, paths }: ApiDocument): string {
  const calls = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      call: `${method.toUpperCase()} ${path}`,
      operation,
    })),
  )
  const sections = tags.map(({ name, description }) => {
    const own = calls.filter(({ operation }) => operation.tags[0] === name)
    const intro = description === undefined ? [] : [description]
    return [`## ${name}`, ...intro, ...own.map(describeCall)].join('\n\n')
  })
  return sections.join('\n\n')
}

function describeCall({ call, operation }: { call: string; operation: Operation }): string {
  const { summary, description, parameters = [], responses } = operation
  const answer = Object.keys(responses).find((status) => status.startsWith('2')) ?? '–'
  const text = [`${summary}. ${description ?? ''} Answers ${answer}.`.replaceAll(/\s+/g, ' ')]
  const query = parameters.filter((parameter) => parameter.in === 'query')
  const rows = query.map((parameter) => [
    code(parameter.name),
    valuesOf(parameter),
    parameter.description ?? '',
  ])
  if (rows.length > 0) text.push(table(['query', 'values', ''], rows))
  return [`### ${code(call)}`, ...text].join('\n\n')
}

function valuesOf({ schema = {}, required }: Parameter): string {
  const values = schema.enum?.map((value) => code(value)).join(', ') ?? schema.type ?? 'text'
  const fallback = schema.default === undefined ? '' : `, default ${code(JSON.stringify(schema.default))}`
  return `${values}${fallback}${required === true ? ', required' : ''}`
}
