import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AlertStep, type AlertTiming, type Incident, type NoticeKind, stepAlert } from './alert-state.ts'

const timing: AlertTiming = { holdMs: 60_000, remindMs: 14_400_000, clearMs: 300_000 }
const second = 1000
const minute = 60_000

interface Look {
  readonly afterMs: number
  readonly isMet: boolean
  readonly maySpeak?: boolean
  readonly change?: Partial<Pick<Incident, 'isAcknowledged' | 'silencedUntilMs'>> | undefined
}

interface Told {
  readonly atMs: number
  readonly kind: NoticeKind
}

function watch(looks: readonly Look[], rules = timing) {
  let incident: Incident | null = null
  let nowMs = 1_000_000
  const told: Told[] = []
  const steps: AlertStep[] = []
  for (const { afterMs, isMet, maySpeak = true, change } of looks) {
    nowMs += afterMs
    if (incident !== null && change !== undefined) incident = { ...incident, ...change }
    const step = stepAlert(incident, { isMet, nowMs, maySpeak }, rules)
    incident = step.incident
    steps.push(step)
    if (step.notice !== null) told.push({ atMs: nowMs, kind: step.notice })
  }
  return { incident, told, steps }
}

/** The same look every 15 s for so long. */
const lasting = (ms: number, isMet: boolean): Look[] =>
  Array.from({ length: ms / (15 * second) }, () => ({ afterMs: 15 * second, isMet }))

describe('an alert', () => {
  it('fires once its condition has held for a minute, is repeated every four hours, and resolves after five clear minutes', () => {
    const { told, incident } = watch([...lasting(9 * 60 * minute, true), ...lasting(6 * minute, false)])
    expect(told.map(({ kind }) => kind)).toEqual(['firing', 'reminder', 'reminder', 'resolved'])
    expect(told[0]!.atMs).toBe(1_000_000 + 15 * second + minute)
    expect(told[1]!.atMs - told[0]!.atMs).toBe(4 * 60 * minute)
    expect(told[3]!.atMs).toBe(1_000_000 + 9 * 60 * minute + 15 * second + 5 * minute)
    expect(incident).toBeNull()
  })

  it('says nothing of what passes within a minute', () => {
    const { told, incident } = watch([...lasting(45 * second, true), ...lasting(minute, false)])
    expect(told).toEqual([])
    expect(incident).toBeNull()
  })

  it('is one incident with one notification, even if its condition comes and goes', () => {
    const flicker = Array.from({ length: 100 }, (_, index) => ({ afterMs: minute, isMet: index % 3 !== 2 }))
    expect(watch([...lasting(2 * minute, true), ...flicker]).told.map(({ kind }) => kind)).toEqual(['firing'])
  })

  it('sends no reminders once it is acknowledged, and still a notification of its end', () => {
    const acknowledged = { afterMs: second, isMet: true, change: { isAcknowledged: true } }
    const { told } = watch([
      ...lasting(2 * minute, true),
      acknowledged,
      ...lasting(9 * 60 * minute, true),
      ...lasting(6 * minute, false),
    ])
    expect(told.map(({ kind }) => kind)).toEqual(['firing', 'resolved'])
  })

  it('is notified when its silence ends, if it still fires then', () => {
    const silenced = {
      afterMs: 15 * second,
      isMet: true,
      change: { silencedUntilMs: 1_000_000 + 60 * minute },
    }
    const { told } = watch([{ afterMs: 0, isMet: true }, silenced, ...lasting(2 * 60 * minute, true)])
    expect(told).toEqual([{ atMs: 1_000_000 + 60 * minute, kind: 'firing' }])
  })

  it('delays notifications of its start and its end while its rule has just notified', () => {
    const mute = (looks: Look[]) => looks.map((look) => ({ ...look, maySpeak: false }))
    const { told, steps } = watch([
      ...mute(lasting(3 * minute, true)),
      ...lasting(15 * second, true),
      ...mute(lasting(10 * minute, false)),
      ...lasting(15 * second, false),
    ])
    expect(told.map(({ kind }) => kind)).toEqual(['firing', 'resolved'])
    expect(steps.at(-2)).toMatchObject({ incident: { state: 'firing' }, notice: null })
  })

  const look = fc.record({
    afterMs: fc.oneof(fc.integer({ min: 0, max: 2 * minute }), fc.integer({ min: 0, max: 5 * 60 * minute })),
    isMet: fc.boolean(),
    maySpeak: fc.boolean(),
    change: fc.option(
      fc.record(
        {
          isAcknowledged: fc.boolean(),
          silencedUntilMs: fc.integer({ min: 0, max: 1_000_000 + 100 * minute }),
        },
        { requiredKeys: [] },
      ),
      { nil: undefined },
    ),
  })

  it('notifies each incident once, reminds no sooner than allowed, and notifies the end only of notified ones', () => {
    fc.assert(
      fc.property(fc.array(look, { maxLength: 60 }), (looks) => {
        let openedAtMs: number | null = null
        let lastMs = Number.NEGATIVE_INFINITY
        for (const { kind, atMs } of watch(looks).told) {
          if (kind === 'firing') expect(openedAtMs).toBeNull()
          else expect(openedAtMs).not.toBeNull()
          if (kind === 'reminder') expect(atMs - lastMs).toBeGreaterThanOrEqual(timing.remindMs)
          openedAtMs = kind === 'resolved' ? null : (openedAtMs ?? atMs)
          lastMs = atMs
        }
      }),
    )
  })

  it('says nothing while it is silenced or its rule may not speak', () => {
    fc.assert(
      fc.property(fc.array(look, { maxLength: 60 }), (looks) => {
        let incident: Incident | null = null
        let nowMs = 1_000_000
        for (const { afterMs, isMet, maySpeak, change } of looks) {
          nowMs += afterMs
          if (incident !== null) incident = { ...incident, ...change }
          const silencedUntilMs = incident?.silencedUntilMs ?? 0
          const step = stepAlert(incident, { isMet, nowMs, maySpeak }, timing)
          if (step.notice !== null)
            expect({ maySpeak, isSilenced: silencedUntilMs > nowMs }).toEqual({
              maySpeak: true,
              isSilenced: false,
            })
          incident = step.incident
        }
      }),
    )
  })

  it('fires only after its condition was met at every look for as long as it must hold', () => {
    fc.assert(
      fc.property(fc.array(look, { maxLength: 60 }), (looks) => {
        let nowMs = 1_000_000
        let metSinceMs: number | null = null
        const { steps } = watch(looks)
        let wasFiring = false
        looks.forEach(({ afterMs, isMet }, index) => {
          nowMs += afterMs
          metSinceMs = isMet ? (metSinceMs ?? nowMs) : null
          const isFiring = steps[index]!.incident?.state === 'firing'
          if (isFiring && !wasFiring) expect(nowMs - metSinceMs!).toBeGreaterThanOrEqual(timing.holdMs)
          wasFiring = isFiring
        })
      }),
    )
  })
})
