import { migrate } from '../../src/postgres/migrate.ts'
import { until } from './engine/until.ts'
import type { TestDatabase } from './test-database.ts'

type ClockDatabase = Pick<TestDatabase, 'url' | 'pool'>

const beatDeadlineMs = 30_000

/**
 * A database whose clock a test moves: an hour passes in a moment, for everything that lives by the database's time (due times, circuits,
 * holds, alerts, leases of tasks, and the ids, which follow the clock).
 *
 * Each database has its own `pg_catalog`: in this one, `now()` and `clock_timestamp()` are functions of the test, in statements, in function bodies
 * and in the defaults of columns, as long as they are there before the schema is migrated. Nothing of Holdfast is changed or waits less: its nodes
 * learn the time from the database, as ever, and see its clock step.
 *
 * @example
 * const database = await createTestDatabase({ isMigrated: false })
 * const clock = await SettableClock.install(database)
 * await clock.pass(3_600_000)
 */
export class SettableClock {
  readonly #database: ClockDatabase

  private constructor(database: ClockDatabase) {
    this.#database = database
  }

  /** Takes an empty database and migrates it; its clock is ahead by so much from the beginning. */
  static async install(database: ClockDatabase, aheadMs = 0): Promise<SettableClock> {
    await database.pool.query(`
      begin;
      set local allow_system_table_mods = on;
      create schema settable;
      create table settable.clock (ahead interval not null);
      insert into settable.clock values (make_interval(secs => ${aheadMs / 1000}));
      grant usage on schema settable to public;
      grant select on settable.clock to public;
      alter function pg_catalog.now() rename to real_now;
      alter function pg_catalog.clock_timestamp() rename to real_clock_timestamp;
      create function pg_catalog.now() returns timestamptz language sql stable as
        'select pg_catalog.real_now() operator(pg_catalog.+) ahead from settable.clock';
      create function pg_catalog.clock_timestamp() returns timestamptz language sql volatile as
        'select pg_catalog.real_clock_timestamp() operator(pg_catalog.+) ahead from settable.clock';
      commit`)
    await migrate(database.url)
    return new SettableClock(database)
  }

  /** Moves the clock; nobody has learnt of it yet. */
  async step(ms: number): Promise<void> {
    await this.#database.pool.query(
      `update settable.clock set ahead = ahead + make_interval(secs => $1::float8 / 1000)`,
      [ms],
    )
  }

  /** Moves the clock ahead, and returns when every living node has learnt of it. */
  async pass(ms: number): Promise<void> {
    await this.step(ms)
    const before = await this.#beats()
    // A beat that was under way may have read the old time; the one after it hasn't, and the next says that its answer has arrived.
    await until(
      'every node to have learnt the time',
      () => this.#beats(),
      (now) => [...before].every(([node, beat]) => (now.get(node) ?? Number.POSITIVE_INFINITY) >= beat + 3),
      beatDeadlineMs,
    )
  }

  async #beats(): Promise<Map<number, number>> {
    const { rows } = await this.#database.pool.query<{ incarnation: number; beat: number }>(
      'select incarnation, beat::int from holdfast_internal.nodes',
    )
    return new Map(rows.map(({ incarnation, beat }) => [incarnation, beat]))
  }
}
