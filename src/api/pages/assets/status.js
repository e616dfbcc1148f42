const refreshMs = 2000
const maxAttemptsShown = 15
const find = (id) => document.getElementById(id)

function cell(text, className = '') {
  const td = document.createElement('td')
  td.textContent = text
  td.className = className
  return td
}

/** Names can be long: what is cut off shows when somebody points at it. */
function nameCell(text) {
  const td = cell(text, 'name')
  td.title = text
  return td
}

function badge(text, tone) {
  const td = document.createElement('td')
  const span = document.createElement('span')
  span.className = `state ${tone}`
  span.textContent = text
  td.append(span)
  return td
}

function row(...cells) {
  const tr = document.createElement('tr')
  tr.append(...cells)
  return tr
}

function duration(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${Math.round(ms / 1000)} s`
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`
  return `${(ms / 3_600_000).toFixed(1)} h`
}

/** In the time zone of whoever looks. */
function timeOf(date) {
  const parts = { hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 }
  return date.toLocaleTimeString('en-GB', parts)
}

const count = (value) => value.toLocaleString('en')
const stateTones = { active: 'good', held: 'warn', paused: 'warn', rejecting: 'bad', disabled: 'bad' }
const circuitTones = { closed: 'good', half_open: 'warn', open: 'bad' }

function tile(label, value, tone = '') {
  const div = document.createElement('div')
  div.className = `tile ${tone}`
  const strong = document.createElement('b')
  strong.textContent = value
  div.append(strong, label)
  return div
}

function showTotals({ pending, inFlight, deadLetters }, endpoints, nodes) {
  const open = endpoints.filter(({ circuit }) => circuit !== 'closed').length
  find('tiles').replaceChildren(
    tile('waiting', count(pending)),
    tile('in flight', count(inFlight)),
    tile(open === 1 ? 'open circuit' : 'open circuits', count(open), open > 0 ? 'bad' : ''),
    tile('dead letters', count(deadLetters), deadLetters > 0 ? 'bad' : ''),
    tile(nodes === 1 ? 'node' : 'nodes', count(nodes), nodes === 0 ? 'bad' : ''),
  )
}

function showEndpoints(endpoints) {
  const rows = endpoints.map((endpoint) =>
    row(
      nameCell(endpoint.name),
      badge(endpoint.state, stateTones[endpoint.state]),
      badge(endpoint.circuit.replace('_', ' '), circuitTones[endpoint.circuit]),
      cell(count(endpoint.pending), 'number'),
      cell(count(endpoint.inFlight), 'number'),
      cell(endpoint.oldestDueMs > 0 ? duration(endpoint.oldestDueMs) : '–', 'number'),
      cell(count(endpoint.deadLetters), endpoint.deadLetters > 0 ? 'number bad' : 'number'),
      cell(endpoint.reason ?? '', 'wide quiet'),
    ),
  )
  if (rows.length === 0) {
    const empty = cell(
      'No endpoints yet: holdfast endpoints create crm --url https://example.com/hooks',
      'quiet',
    )
    empty.colSpan = 8
    rows.push(row(empty))
  }
  find('endpoints').replaceChildren(...rows)
}

const shown = []
function showAttempts({ attempts, leftOut }) {
  for (const [index, attempt] of attempts.entries()) {
    const isLast = index === attempts.length - 1
    const note = isLast && leftOut > 0 ? `… and ${count(leftOut)} more that aren't shown` : ''
    shown.unshift(
      row(
        cell(timeOf(new Date(attempt.at)), 'quiet'),
        nameCell(attempt.endpoint),
        nameCell(attempt.eventType ?? '–'),
        cell(String(attempt.attempt), 'number'),
        badge(
          attempt.statusCode === null ? attempt.outcome : `${attempt.outcome} ${attempt.statusCode}`,
          attempt.outcome === 'success' ? 'good' : attempt.outcome === 'retryable' ? 'warn' : 'bad',
        ),
        cell(duration(attempt.durationMs), 'number'),
        cell(attempt.error ?? note, 'wide quiet'),
      ),
    )
  }
  shown.length = Math.min(shown.length, maxAttemptsShown)
  find('attempts').replaceChildren(...shown)
}

function complain(text) {
  find('problem').textContent = text
  find('problem').hidden = text === ''
}

let newsAt = new Date()

async function refresh() {
  try {
    const response = await fetch('/v1/overview')
    if (response.status === 401) {
      location.replace('/sign-in')
      return
    }
    if (!response.ok) throw new Error((await response.json()).detail)
    const overview = await response.json()
    find('version').textContent = overview.version
    showTotals(overview.totals, overview.endpoints, overview.nodes.length)
    showEndpoints(overview.endpoints)
    newsAt = new Date()
    complain('')
  } catch (error) {
    // What fetch says of a server that is away differs between browsers, and helps nobody.
    const why = error instanceof TypeError ? 'the server does not answer.' : error.message
    complain(`No news since ${newsAt.toLocaleTimeString('en-GB')}: ${why} Trying again.`)
  }
  setTimeout(() => void refresh(), refreshMs)
}

// `holdfast dev` keeps its key in a file; elsewhere everybody has one of their own.
const isLocal = ['127.0.0.1', 'localhost'].includes(location.hostname)
const key = isLocal ? '$(cat .holdfast/admin-key)' : '$HOLDFAST_API_KEY'
find('curl').textContent =
  `curl ${location.origin}/v1/events -H "Authorization: Bearer ${key}" \\\n` +
  `  -H 'Content-Type: application/json' -d '{"type":"hello.world","payload":{"hello":"world"}}'`

async function signOut() {
  try {
    const { csrfToken } = await (await fetch('/session')).json()
    await fetch('/session', { method: 'DELETE', headers: { 'x-csrf-token': csrfToken ?? '' } })
    location.replace('/sign-in')
  } catch {
    complain('You are still signed in: the server does not answer.')
  }
}

find('sign-out').addEventListener('click', () => void signOut())

new EventSource('/v1/stream').addEventListener('attempts', ({ data }) => showAttempts(JSON.parse(data)))
void refresh()
