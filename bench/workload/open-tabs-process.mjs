// Dashboard tabs without a browser, in their own process: they make the calls of open pages and discard the responses. The parent's message says
// which pages.
import { Agent, request } from 'undici'

/** A browser's limit for one host. */
const CONNECTIONS = 6
/** As in dashboard/live/follow-stream.ts: a reported topic is fetched at most once in this time. */
const DELAY_MS = { traffic: 2000, letters: 1000, changes: 1000 }
const SOON_MS = 250
const topicOf = { attempts: 'traffic', totals: 'traffic', dead_letter: 'letters', change: 'changes' }

const takenMs = []
let bytes = 0
let isClosed = false

process.once('message', (load) => {
  open(load).then(
    () => process.send({ isOpen: true }),
    (error) => process.send({ error: String(error) }),
  )
  process.once('message', close)
})

async function open({ url, key, tabs }) {
  await Promise.all(tabs.map((calls) => openTab(url, key, calls)))
}

function close() {
  isClosed = true
  takenMs.sort((a, b) => a - b)
  const p95Ms = takenMs[Math.ceil(takenMs.length * 0.95) - 1] ?? 0
  const { user, system } = process.cpuUsage()
  process.send({ calls: takenMs.length, bytes, p95Ms, processorMs: (user + system) / 1000 }, () =>
    process.exit(),
  )
}

async function openTab(url, key, calls) {
  const dispatcher = new Agent({ connections: CONNECTIONS })
  const headers = {
    cookie: await signIn(url, key, dispatcher),
    accept: 'application/json',
    'cache-control': 'max-age=1',
  }
  const asks = calls.map((call) => ({ ...call, ask: repeatable(url + call.path, dispatcher, headers) }))
  await followStream(url, dispatcher, headers, (topics) => {
    for (const call of asks) if (call.topics?.some((topic) => topics.has(topic))) call.ask()
  })
  await Promise.all(asks.map(({ ask }) => ask()))
  for (const { ask, pollMs } of asks) if (pollMs !== undefined) setInterval(() => void ask(), pollMs)
}

async function signIn(url, key, dispatcher) {
  const answer = await request(`${url}/session`, {
    dispatcher,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ key }),
  })
  await answer.body.dump()
  const [cookie] = String(answer.headers['set-cookie']).split(';')
  if (answer.statusCode >= 300) throw new Error(`the sign-in was answered with ${answer.statusCode}`)
  return cookie
}

/** One request at a time: like a page, it aborts the current request before it starts another. */
function repeatable(url, dispatcher, headers) {
  let current = new AbortController()
  return async () => {
    current.abort()
    current = new AbortController()
    const startedMs = performance.now()
    try {
      const answer = await request(url, { dispatcher, headers, signal: current.signal })
      bytes += (await answer.body.arrayBuffer()).byteLength
      if (answer.statusCode >= 300) fail(`${url} was answered with ${answer.statusCode}`)
      takenMs.push(performance.now() - startedMs)
    } catch (error) {
      if (error.name !== 'AbortError') fail(`${url}: ${String(error)}`)
    }
  }
}

async function followStream(url, dispatcher, headers, flush) {
  const answer = await request(`${url}/v1/stream?detail=brief`, { dispatcher, headers, bodyTimeout: 0 })
  if (answer.statusCode !== 200) throw new Error(`the stream was answered with ${answer.statusCode}`)
  readStream(answer.body, flush).catch((error) => fail(`the stream broke: ${error}`))
}

async function readStream(body, ask) {
  const stale = new Map()
  let timer
  const schedule = () => {
    clearTimeout(timer)
    if (stale.size > 0) timer = setTimeout(flush, Math.min(...stale.values()) - performance.now())
  }
  const flush = () => {
    const soonMs = performance.now() + SOON_MS
    const due = new Set([...stale].filter(([, dueMs]) => dueMs <= soonMs).map(([topic]) => topic))
    for (const topic of due) stale.delete(topic)
    ask(due)
    schedule()
  }
  for await (const chunk of body) {
    for (const [, event] of String(chunk).matchAll(/^event: (\w+)$/gm)) {
      const topic = topicOf[event]
      if (topic === undefined || stale.has(topic)) continue
      stale.set(topic, performance.now() + DELAY_MS[topic])
      schedule()
    }
  }
}

/** A page that shows an error makes fewer calls than an open tab: the sample fails. */
function fail(reason) {
  if (isClosed) return
  process.send({ error: reason }, () => process.exit(1))
}
