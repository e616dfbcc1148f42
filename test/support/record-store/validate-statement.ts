const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i
const iri = /^[a-z][a-z0-9+.-]*:\/?\/?[^\s<>"{}|\\^`]+$/i
const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/
const duration =
  /^P(?=\d|T\d)(?:\d+Y)?(?:\d+M)?(?:\d+[DW])?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?$/
const interactionTypes = new Set([
  'true-false',
  'choice',
  'fill-in',
  'long-fill-in',
  'matching',
  'performance',
  'sequencing',
  'likert',
  'numeric',
  'other',
])

type Fields = Record<string, unknown>

/** What is wrong with a statement by the rules of xAPI 1.0.3, as a record store checks it; empty when nothing is. */
export function validateStatement(value: unknown): string[] {
  const problems: string[] = []
  const check = (isRight: boolean, problem: string) => {
    if (!isRight) problems.push(problem)
  }
  const statement = fields(value)
  if (statement === null) return ['a statement must be an object']
  const allowed = new Set([
    'id',
    'actor',
    'verb',
    'object',
    'result',
    'context',
    'timestamp',
    'stored',
    'authority',
    'version',
    'attachments',
  ])
  for (const [name, field] of Object.entries(statement)) {
    check(allowed.has(name), `${name} is no property of a statement`)
    check(field !== null, `${name} must not be null`)
  }
  check(statement['id'] === undefined || uuid.test(textOf(statement['id'])), 'id must be a UUID')
  check(
    statement['timestamp'] === undefined || timestamp.test(textOf(statement['timestamp'])),
    'timestamp must be ISO 8601 with a zone',
  )
  check(
    statement['version'] === undefined || /^1\.0(?:\.\d+)?$/.test(textOf(statement['version'])),
    'version must be 1.0.x',
  )
  checkActor(fields(statement['actor']), check)
  checkVerb(fields(statement['verb']), check)
  checkActivity(fields(statement['object']), 'object', check)
  checkResult(statement['result'], check)
  checkContext(statement['context'], check)
  return problems
}

type Check = (isRight: boolean, problem: string) => void

function checkActor(actor: Fields | null, check: Check): void {
  if (actor === null) return check(false, 'actor is required')
  const identifiers = ['mbox', 'mbox_sha1sum', 'openid', 'account'].filter(
    (name) => actor[name] !== undefined,
  )
  check(identifiers.length === 1, 'actor must have exactly one identifier')
  if (actor['mbox'] !== undefined)
    check(/^mailto:[^@\s]+@[^@\s]+$/.test(textOf(actor['mbox'])), 'actor.mbox must be a mailto address')
  if (actor['mbox_sha1sum'] !== undefined)
    check(/^[0-9a-f]{40}$/.test(textOf(actor['mbox_sha1sum'])), 'actor.mbox_sha1sum must be a digest')
  const account = fields(actor['account'])
  if (account === null) return
  check(iri.test(textOf(account['homePage'])), 'actor.account.homePage must be an IRI')
  check(typeof account['name'] === 'string' && account['name'] !== '', 'actor.account.name is required')
}

function checkVerb(verb: Fields | null, check: Check): void {
  if (verb === null) return check(false, 'verb is required')
  check(iri.test(textOf(verb['id'])), 'verb.id must be an IRI')
  checkLanguages(verb['display'], 'verb.display', check)
}

function checkActivity(activity: Fields | null, path: string, check: Check): void {
  if (activity === null) return check(false, `${path} is required`)
  check((activity['objectType'] ?? 'Activity') === 'Activity', `${path}.objectType must be Activity`)
  check(iri.test(textOf(activity['id'])), `${path}.id must be an IRI`)
  const definition = fields(activity['definition'])
  if (definition === null) return
  check(
    definition['type'] === undefined || iri.test(textOf(definition['type'])),
    `${path}.definition.type must be an IRI`,
  )
  checkLanguages(definition['name'], `${path}.definition.name`, check)
  checkLanguages(definition['description'], `${path}.definition.description`, check)
  checkExtensions(definition['extensions'], `${path}.definition`, check)
  const type = definition['interactionType']
  check(
    type === undefined || interactionTypes.has(textOf(type)),
    `${path}.definition.interactionType is unknown`,
  )
}

function checkResult(value: unknown, check: Check): void {
  const result = fields(value)
  if (result === null) return check(value === undefined, 'result must be an object')
  for (const name of ['success', 'completion'])
    check(['boolean', 'undefined'].includes(typeof result[name]), `result.${name} must be a boolean`)
  check(['string', 'undefined'].includes(typeof result['response']), 'result.response must be a text')
  check(
    result['duration'] === undefined || duration.test(textOf(result['duration'])),
    'result.duration must be ISO 8601',
  )
  checkExtensions(result['extensions'], 'result', check)
  const score = fields(result['score'])
  if (score === null) return
  const { scaled, raw, min, max } = score as Record<string, number | undefined>
  check(scaled === undefined || (scaled >= -1 && scaled <= 1), 'result.score.scaled must be between -1 and 1')
  check(raw === undefined || min === undefined || raw >= min, 'result.score.raw must not be below min')
  check(raw === undefined || max === undefined || raw <= max, 'result.score.raw must not be above max')
}

function checkContext(value: unknown, check: Check): void {
  const context = fields(value)
  if (context === null) return check(value === undefined, 'context must be an object')
  checkExtensions(context['extensions'], 'context', check)
  const reference = fields(context['statement'])
  if (reference !== null) {
    check(
      reference['objectType'] === 'StatementRef' && uuid.test(textOf(reference['id'])),
      'context.statement must be a StatementRef',
    )
  }
  for (const [kind, list] of Object.entries(fields(context['contextActivities']) ?? {})) {
    check(['parent', 'grouping', 'category', 'other'].includes(kind), `contextActivities.${kind} is unknown`)
    const activities: unknown[] = Array.isArray(list) ? list : [list]
    for (const each of activities) checkActivity(fields(each), `context.contextActivities.${kind}`, check)
  }
}

function checkLanguages(value: unknown, path: string, check: Check): void {
  if (value === undefined) return
  const map = fields(value)
  if (map === null) return check(false, `${path} must be a language map`)
  for (const [language, text] of Object.entries(map)) {
    check(
      /^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$/.test(language) && typeof text === 'string',
      `${path} must be a language map`,
    )
  }
}

function checkExtensions(value: unknown, path: string, check: Check): void {
  if (value === undefined) return
  const map = fields(value)
  if (map === null) return check(false, `${path}.extensions must be an object`)
  for (const name of Object.keys(map))
    check(iri.test(name), `${path}.extensions has a key that is no IRI: ${name}`)
}

function fields(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
