import { describe, expect, it } from 'vitest'
import { type Notice, renderNotice } from './alert-notice.ts'
import {
  alertRound,
  type Finding,
  type IncidentChange,
  type OpenIncident,
  type RoundRule,
} from './alert-round.ts'

const rule: RoundRule = {
  name: 'circuit-open',
  kind: 'circuit_open',
  severity: 'warning',
  threshold: 300,
  holdMs: 60_000,
  remindMs: 14_400_000,
  clearMs: 300_000,
  quietMs: 60_000,
  silencedUntilMs: null,
  lastNoticeAtMs: null,
}

/** Looks every 15 s, keeping what a database would keep. */
function watch(
  seconds: number,
  findingsAt: (second: number) => readonly Finding[],
  changes: Partial<RoundRule> = {},
) {
  let open: OpenIncident[] = []
  let lastNoticeAtMs: number | null = null
  let nextId = 1
  const notices: (Notice & { second: number })[] = []
  const ended: IncidentChange[] = []
  for (let second = 0; second <= seconds; second += 15) {
    const round = alertRound({ ...rule, ...changes, lastNoticeAtMs }, findingsAt(second), open, second * 1000)
    if (round.notices.length > 0) lastNoticeAtMs = second * 1000
    notices.push(...round.notices.map((notice) => ({ ...notice, second })))
    const kept = new Map(open.map((incident) => [incident.subject, incident]))
    for (const change of round.changes) {
      if (change.state === 'pending' || change.state === 'firing') {
        const { state } = change
        const id = change.id ?? nextId++
        kept.set(change.subject, { ...change, state, id, isAcknowledged: false, silencedUntilMs: null })
      } else {
        kept.delete(change.subject)
        ended.push(change)
      }
    }
    open = [...kept.values()]
  }
  return { notices, open, ended }
}

const endpoints = (count: number): Finding[] =>
  Array.from({ length: count }, (_, index) => ({ subject: `endpoint-${index}`, value: 400 }))

describe('a round of alerts', () => {
  it('tells of a hundred endpoints that fail together in one notice', () => {
    const { notices, open } = watch(300, () => endpoints(100))
    expect(notices).toHaveLength(1)
    expect(notices[0]!.incidents).toHaveLength(100)
    expect(open).toHaveLength(100)
  })

  it('speaks once a minute at most when one endpoint after the other fails, and leaves none out', () => {
    const { notices } = watch(1500, (second) => endpoints(Math.min(100, Math.floor(second / 15))))
    expect(notices.every(({ kind }) => kind === 'firing')).toBe(true)
    expect(notices.length).toBeLessThanOrEqual(1500 / 60 + 1)
    const gaps = notices.slice(1).map(({ second }, index) => second - notices[index]!.second)
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(60)
    const told = notices.flatMap(({ incidents }) => incidents.map(({ subject }) => subject))
    expect(new Set(told).size).toBe(told.length)
    expect(told.length).toBeGreaterThan(90)
  })

  it('forgets what passed before it fired, and says that the rest is over', () => {
    const { notices, ended } = watch(900, (second) =>
      second < 30 ? endpoints(2) : second < 300 ? endpoints(1) : [],
    )
    expect(notices.map(({ kind, incidents }) => [kind, incidents.length])).toEqual([
      ['firing', 1],
      ['resolved', 1],
    ])
    expect(ended.map(({ state, subject }) => [state, subject])).toEqual([
      ['forgotten', 'endpoint-1'],
      ['resolved', 'endpoint-0'],
    ])
  })

  it('says nothing while its rule is silenced, and what still fires afterwards', () => {
    const { notices } = watch(1200, (second) => (second < 300 ? endpoints(2) : endpoints(1)), {
      silencedUntilMs: 900_000,
    })
    expect(notices).toHaveLength(1)
    expect(notices[0]).toMatchObject({ kind: 'firing', second: 900, incidents: [{ subject: 'endpoint-0' }] })
  })
})

describe('a notice', () => {
  const notice: Notice = {
    kind: 'firing',
    rule: 'dead-letters',
    alertKind: 'dead_letters',
    severity: 'warning',
    incidents: [{ subject: 'all', value: 120, threshold: 100, sinceMs: Date.UTC(2030, 0, 1) }],
  }

  it('says what happened, since when, and where to read on', () => {
    const { title, text, payloads } = renderNotice(notice, 'docs/runbook.md')
    expect(title).toBe('[FIRING] warning: 120 dead letters are open, more than 100')
    expect(text).toContain('since 2030-01-01T00:00:00.000Z')
    expect(text).toContain('docs/runbook.md#dead-letters')
    expect(payloads.webhook).toMatchObject({ type: 'alert.firing', kind: 'dead_letters', total: 1 })
    expect(payloads.email.subject).not.toContain('\n')
  })

  it('names the first twenty of many, and counts the rest', () => {
    const incidents = endpoints(100).map((finding) => ({ ...finding, threshold: 300, sinceMs: 0 }))
    const { title, text, payloads } = renderNotice(
      { ...notice, rule: 'circuit-open', alertKind: 'circuit_open', incidents },
      'runbook',
    )
    expect(title).toContain('100 times circuit-open')
    expect(text).toContain('… and 80 more')
    expect((payloads.webhook as { incidents: unknown[] }).incidents).toHaveLength(20)
  })

  it('lets no name of an endpoint speak to everybody on Slack', () => {
    const incidents = [{ ...notice.incidents[0]!, subject: '<!channel> & co' }]
    const { payloads } = renderNotice({ ...notice, alertKind: 'node_lost', incidents }, 'runbook')
    expect(JSON.stringify(payloads.slack)).toContain('&lt;!channel&gt; &amp; co')
  })

  it('has words for a kind that only a newer version knows', () => {
    expect(renderNotice({ ...notice, alertKind: 'moon_phase' }, 'runbook').title).toContain('moon_phase: all')
  })
})
