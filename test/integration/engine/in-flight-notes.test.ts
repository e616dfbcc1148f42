import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { InFlightNotes } from '../../../src/engine/in-flight-notes.ts'
import { Database } from '../../../src/storage/database.ts'
import { Rig } from '../../support/engine/rig.ts'

describe('the list of what is in flight', () => {
  let rig: Rig

  beforeAll(async () => {
    rig = await Rig.create()
  })
  afterAll(() => rig.stop())

  it('is empty again when all attempts end while it is being written', async () => {
    let inFlight = [{ id: 7, ageMs: 20 }]
    const notes = new InFlightNotes({
      database: new Database({ pool: rig.database.pool, preparesStatements: true, deadlineMs: 10_000 }),
      incarnation: () => 1000,
      list(maxEntries) {
        const listed = inFlight.slice(0, maxEntries)
        // Whatever is listed has ended by the time of the next look.
        inFlight = []
        return listed
      },
      report(error) {
        throw error
      },
    })
    notes.begun()
    await expect.poll(noted).toEqual([7])
    await expect.poll(noted).toEqual([])
    await notes.stop()
  })

  async function noted(): Promise<unknown> {
    return (await rig.rows<{ ids: number[] }>('select ids from holdfast_internal.in_flight'))[0]?.ids
  }
})
