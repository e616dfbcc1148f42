const methods = ['get', 'post', 'put', 'patch', 'delete']
const maxDepth = 6

const response = await fetch('openapi.json').catch(() => null)
if (response?.status === 401) location.replace('/sign-in')
if (!response?.ok) {
  document.getElementById('calls').textContent = 'The description cannot be read now. Load this page again.'
  throw new Error('no description')
}
const api = await response.json()

function element(name, className, ...children) {
  const made = document.createElement(name)
  if (className) made.className = className
  made.append(...children)
  return made
}

/** Converts text in which `names` are between backticks. */
function prose(text) {
  return text.split('`').map((part, index) => (index % 2 === 1 ? element('code', '', part) : part))
}

function resolve(schema) {
  const name = schema?.$ref?.split('/').at(-1)
  return name === undefined ? schema : api.components.schemas[name]
}

/** A short description of the schema's type. */
function typeOf(schema) {
  if (schema === undefined || schema === true) return 'any'
  const name = schema.$ref?.split('/').at(-1)
  if (name !== undefined) return name
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return [...new Set(choices.map(typeOf))].join(' | ')
  if (schema.type === 'array') return `${typeOf(schema.items)}[]`
  return [schema.type ?? 'any'].flat().join(' | ')
}

function limitsOf(schema) {
  const { minimum, maximum, maxLength, default: fallback } = schema
  const isBounded = minimum > Number.MIN_SAFE_INTEGER && maximum < Number.MAX_SAFE_INTEGER
  const parts = [
    isBounded ? `${minimum} to ${maximum}` : '',
    maxLength !== undefined ? `at most ${maxLength} characters` : '',
    fallback !== undefined ? `\`${JSON.stringify(fallback)}\` when left out` : '',
  ].filter(Boolean)
  return parts.length === 0 ? '' : `(${parts.join('; ')})`
}

function about(description, schema) {
  return prose([description, limitsOf(schema)].filter(Boolean).join(' '))
}

function needed() {
  return element('span', 'needed', 'required')
}

/** `isRequired`: whether to mark required fields; only useful for input, not for results. */
function fieldRows(schema, isRequired, prefix = '', depth = 0) {
  const { properties = {}, required = [] } = resolve(schema) ?? {}
  return Object.entries(properties).flatMap(([name, field]) => {
    const path = `${prefix}${name}`
    const whole = resolve(field) ?? {}
    const inner = whole.type === 'array' ? resolve(whole.items) : whole
    const row = element(
      'tr',
      '',
      element('td', '', element('code', '', path), isRequired && required.includes(name) ? needed() : ''),
      element('td', 'type quiet', typeOf(field)),
      element('td', 'wide quiet', ...about(field.description ?? whole.description, whole)),
    )
    const goesDeeper = inner?.properties !== undefined && depth < maxDepth && field.$ref === undefined
    const suffix = whole.type === 'array' ? '[].' : '.'
    return goesDeeper ? [row, ...fieldRows(inner, isRequired, `${path}${suffix}`, depth + 1)] : [row]
  })
}

function table(title, rows) {
  if (rows.length === 0) return []
  const made = element('table', '', element('tbody', '', ...rows))
  return [element('h4', '', title), element('div', 'scroll', made)]
}

function example(path, method, operation) {
  const schema = resolve(operation.requestBody?.content?.['application/json']?.schema)
  const [sample] = schema?.examples ?? []
  const filled = (operation.parameters ?? [])
    .filter((parameter) => parameter.in === 'path')
    .reduce((url, { name, schema: given }) => url.replace(`{${name}}`, given?.examples?.[0] ?? name), path)
  const lines = [
    `curl ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}${location.origin}${filled}`,
    `  -H "Authorization: Bearer $HOLDFAST_API_KEY"`,
  ]
  if (schema) lines.push(`  -H 'Content-Type: application/json' -d '${JSON.stringify(sample ?? {})}'`)
  return lines.join(' \\\n')
}

function call(path, method, operation) {
  const parameters = (operation.parameters ?? []).map((parameter) =>
    element(
      'tr',
      '',
      element('td', '', element('code', '', parameter.name), parameter.required ? needed() : ''),
      element('td', 'type quiet', `${parameter.in} · ${typeOf(parameter.schema)}`),
      element(
        'td',
        'wide quiet',
        ...about(parameter.description ?? parameter.schema?.description, parameter.schema ?? {}),
      ),
    ),
  )
  const body = operation.requestBody?.content?.['application/json']?.schema
  const answers = Object.entries(operation.responses ?? {}).map(([status, answer]) => {
    const [content] = Object.values(answer.content ?? {})
    return element(
      'tr',
      '',
      element('td', status < '400' ? 'good' : 'bad', status),
      element('td', 'type quiet', content ? typeOf(content.schema) : 'no body'),
      element('td', 'wide quiet', ...prose(answer.description ?? '')),
    )
  })
  const [success] = Object.entries(operation.responses ?? {}).find(([status]) => status < '300') ?? []
  const result = operation.responses?.[success]?.content?.['application/json']?.schema
  const section = element(
    'section',
    'card call',
    element(
      'h3',
      '',
      element('span', `method ${method.toUpperCase()}`, method.toUpperCase()),
      element('code', '', path),
    ),
    element('p', '', element('b', '', ...prose(operation.summary ?? ''))),
    element('p', 'quiet', ...prose(operation.description ?? '')),
    ...table('Parameters', parameters),
    ...table('Body', body ? fieldRows(body, true) : []),
    ...table('Answers', answers),
    ...table('Result', result ? fieldRows(result, false) : []),
    element('h4', '', 'Example'),
    element('pre', '', example(path, method, operation)),
  )
  section.id = operation.operationId
  return section
}

const byTag = new Map()
for (const [path, item] of Object.entries(api.paths)) {
  for (const method of methods.filter((each) => item[each])) {
    const operation = item[method]
    const tag = operation.tags?.[0] ?? 'Other'
    byTag.set(tag, [...(byTag.get(tag) ?? []), { path, method, operation }])
  }
}

const index = document.getElementById('index')
const calls = document.getElementById('calls')
calls.replaceChildren(element('p', 'quiet', ...prose(api.info.description)))
const groups = [...byTag].map(([tag, entries]) => {
  const links = entries.map(({ path, method, operation }) => {
    const link = element('a', '', ...prose(operation.summary ?? operation.operationId))
    link.href = `#${operation.operationId}`
    link.title = `${method.toUpperCase()} ${path}`
    const section = call(path, method, operation)
    return { link, section, text: `${link.title} ${link.textContent} ${tag}`.toLowerCase() }
  })
  const group = { name: element('strong', '', tag), title: element('h2', '', tag), links }
  index.append(group.name, ...links.map(({ link }) => link))
  calls.append(group.title, ...links.map(({ section }) => section))
  return group
})

document.getElementById('filter').addEventListener('input', ({ target }) => {
  const words = target.value.toLowerCase().split(/\s+/)
  for (const { name, title, links } of groups) {
    for (const { link, section, text } of links) {
      link.hidden = section.hidden = !words.every((word) => text.includes(word))
    }
    name.hidden = title.hidden = links.every(({ link }) => link.hidden)
  }
})

document.getElementById('version').textContent = api.info.version
if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView()
