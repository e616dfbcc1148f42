import type { Pool, PoolClient } from 'pg'
import { until } from '../engine/until.ts'

const gateLock = 42_420_001

/** Stops writes with an `Idempotency-Key` between their effect and their answer, as a slow disk would. */
export class AnswerGate {
  readonly #pool: Pool
  #holder: PoolClient | null = null

  private constructor(pool: Pool) {
    this.#pool = pool
  }

  static async install(pool: Pool): Promise<AnswerGate> {
    await pool.query(`
      create function public.wait_at_gate() returns trigger language plpgsql as
        $$ begin perform pg_advisory_xact_lock_shared(${gateLock}); return new; end $$;
      create trigger gate before insert on holdfast_internal.api_results for each row execute function public.wait_at_gate()`)
    return new AnswerGate(pool)
  }

  async close(): Promise<void> {
    this.#holder = await this.#pool.connect()
    await this.#holder.query(`select pg_advisory_lock(${gateLock})`)
  }

  async open(): Promise<void> {
    await this.#holder?.query(`select pg_advisory_unlock(${gateLock})`)
    this.#holder?.release()
    this.#holder = null
  }

  /** The process of the server's that serves the one who waits. */
  async waiting(): Promise<number> {
    return until('somebody at the gate', async () => {
      const { rows } = await this.#pool.query<{ pid: number }>(
        `select pid from pg_locks where locktype = 'advisory' and objid = ${gateLock} and not granted
           and database = (select oid from pg_database where datname = current_database())`,
      )
      return rows[0]?.pid ?? 0
    })
  }
}
