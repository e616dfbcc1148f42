import { describe, expect, it } from 'vitest'
import { entryOf, evidenceOf } from './hand-made.ts'
import { probesStandAlone } from './probes.ts'

const probe = entryOf('crm', 'msg_probe', 100, 150)
const probes = [{ id: 'msg_probe', endpoint: 'crm', attempt: 1 }]
const judged = (...others: ReturnType<typeof entryOf>[]) =>
  probesStandAlone(evidenceOf({ entries: [probe, ...others], probes }))

describe('the check of probes', () => {
  it('accepts a probe with nothing beside it', () => {
    const before = entryOf('crm', 'msg_a', 10, 90)
    const after = entryOf('crm', 'msg_b', 160, 170)
    const elsewhere = entryOf('shop', 'msg_c', 110, 140)
    expect(judged(before, after, elsewhere)).toMatchObject({ checked: 1, violations: [] })
  })

  it('finds a request that was sent while the probe was in flight', () => {
    expect(judged(entryOf('crm', 'msg_a', 120, 130)).violations).toEqual([
      'crm: msg_a was sent while msg_probe was out as a probe',
    ])
  })

  it('finds an older request that was still out when the probe started', () => {
    expect(judged(entryOf('crm', 'msg_a', 50, 110)).violations).toEqual([
      'crm: msg_a was still out when msg_probe was out as a probe',
    ])
    expect(judged(entryOf('crm', 'msg_a', 50, null)).violations).toHaveLength(1)
  })

  it('takes one of two equal attempts that stood alone for the probe', () => {
    const twin = entryOf('crm', 'msg_probe', 500, 550)
    expect(judged(twin, entryOf('crm', 'msg_a', 120, 130)).violations).toEqual([])
    const both = [entryOf('crm', 'msg_a', 120, 130), entryOf('crm', 'msg_b', 520, 530)]
    expect(judged(twin, ...both).violations).toHaveLength(1)
  })

  it('judges no probe that reached no receiver', () => {
    const unseen = [{ id: 'msg_other', endpoint: 'crm', attempt: 1 }]
    expect(probesStandAlone(evidenceOf({ entries: [probe], probes: unseen })).checked).toBe(0)
  })
})
