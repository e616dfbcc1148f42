import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { deniedPortsText } from '../core/network/port-policy.ts'
import { networkRules, refusalOfHost, refusalOfUrl } from './network-rules.ts'

const page = readFileSync(new URL('../../docs/network.md', import.meta.url), 'utf8')
const rows = [...page.matchAll(/^\| `([^`]+)` \| ([^|]+) \| (?:allowed|`([^`]+)`) \|$/gm)].map(
  ([, host = '', as = '', network]) => ({ host, as, network: network ?? null }),
)
const strict = networkRules([])

describe('the table of spellings in docs/network.md', () => {
  it('has at least sixty rows, and none twice', () => {
    expect(rows.length).toBeGreaterThanOrEqual(60)
    expect(new Set(rows.map(({ host }) => host)).size).toBe(rows.length)
  })

  it.each(rows)('is right about $host: $network', ({ host, network }) => {
    const url = new URL(`http://${host}/hook`)
    expect(refusalOfUrl(url, strict)?.network ?? null).toBe(network)
  })

  it.each(rows.filter(({ as }) => /^[\d.]+$/.test(as)))('reads $host as $as', ({ host, as }) => {
    const { hostname } = new URL(`http://${host}`)
    if (host.startsWith('[')) expect(refusalOfHost(host, strict)?.message ?? as).toContain(as)
    else expect(hostname).toBe(as)
  })

  it.each(rows.filter(({ network }) => network !== null))(
    'allows $host when $network is allowed, tunnels only with what they lead to',
    ({ host, network }) => {
      const url = new URL(`http://${host}/hook`)
      const refusal = refusalOfUrl(url, networkRules([network!]))
      const leadsTo = refusal?.message.includes('leads to') === true
      expect(refusal === null || leadsTo).toBe(true)
      expect(refusal?.network).not.toBe(network)
    },
  )
})

describe('the list of ports in docs/network.md', () => {
  it('is the one that the code has', () => {
    expect(page).toContain(`${deniedPortsText()}.`)
  })
})
