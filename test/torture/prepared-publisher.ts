import type { Pool, PoolClient } from 'pg'
import type { Publishers } from './publishers.ts'
import { plainEndpoints } from './receivers.ts'
import type { SeededRandom } from './seeded-random.ts'
import { sendEach } from './send-each.ts'

/** What PostgreSQL says to a PREPARE TRANSACTION after a NOTIFY. */
const featureNotSupported = '0A000'
/** No such prepared transaction: it was decided by a statement whose answer was lost. */
const undefinedObject = '42704'
const retryPauseMs = 200
const maxOpenMs = 8000

/** Publishes in two-phase transactions, which are decided later by another connection, whatever happens to the server in between. */
export class PreparedPublisher {
  readonly #pool: Pool
  readonly #publishers: Publishers
  #number = 0

  constructor(pool: Pool, publishers: Publishers) {
    this.#pool = pool
    this.#publishers = publishers
  }

  async send(random: SeededRandom): Promise<void> {
    const { books } = this.#publishers
    const endpoint = random.pick(plainEndpoints)
    const messages = Array.from({ length: random.between(1, 5) }, () =>
      this.#publishers.message(random, endpoint),
    )
    const isRolledBack = random.chance(0.3)
    const openMs = random.between(0, maxOpenMs)
    this.#number += 1
    const name = `torture-${this.#number}`
    const ids: string[] = []
    const isPrepared = await this.#prepare(name, endpoint, messages, ids)
    if (!isPrepared) {
      books.rolledBack.push(...ids)
      return
    }
    await pause(openMs)
    await this.#decide(name, isRolledBack ? 'rollback' : 'commit')
    if (isRolledBack) books.rolledBack.push(...ids)
    else this.#publishers.accept(endpoint, ids, messages)
  }

  /** False: it was rolled back. When the answer was lost the server may have prepared it all the same. */
  async #prepare(
    name: string,
    endpoint: string,
    messages: Parameters<typeof sendEach>[2],
    ids: string[],
  ): Promise<boolean> {
    const { prepared } = this.#publishers.books
    let client: PoolClient | null = null
    let isPreparing = false
    try {
      client = await this.#pool.connect()
      await client.query('begin')
      await sendEach(client, endpoint, messages, ids)
      isPreparing = true
      prepared.tries += 1
      await client.query(`prepare transaction '${name}'`)
      client.release()
      return true
    } catch (error) {
      client?.release(true)
      const isRefused = (error as { code?: string }).code === featureNotSupported
      if (isRefused) prepared.refused.push(`${name}: ${(error as Error).message}`)
      if (isPreparing && !isRefused) await this.#decide(name, 'rollback')
      return false
    }
  }

  async #decide(name: string, decision: 'commit' | 'rollback'): Promise<void> {
    for (;;) {
      try {
        await this.#pool.query(`${decision} prepared '${name}'`)
        return
      } catch (error) {
        if ((error as { code?: string }).code === undefinedObject) return
        await pause(retryPauseMs)
      }
    }
  }
}

async function pause(delayMs: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, delayMs))
}
