/**
 * What plain deliveries would cost if a batch of them shared one row: docs/decisions/0033-delivery-ranges.md. Not a part of the product.
 *
 *   npx tsx bench/prototypes/delivery-ranges.ts postgres://postgres@127.0.0.1:5432/postgres
 *
 * Prints CPU time of the backend per message (Linux, server on this machine), medians of interleaved rounds.
 */
import { readFileSync } from 'node:fs'
import { Client } from 'pg'
import { Holdfast } from '../../dist/index.js'

const batchRows = 1000
const batches = 60
const rounds = 5
const ticksPerSecond = 100

const setUp = `
  create schema prototype;
  create table prototype.ranges (lane_id integer, first_id bigint, last_id bigint, published_by xid8, primary key (lane_id, first_id));
  -- Both store the same messages; they differ in the deliveries only. Neither has the checks of accept.
  create function prototype.accept_rows(lane integer, bodies text[]) returns bigint[] language plpgsql as $$
  declare ids bigint[];
  begin
    with given as (
      select nextval('holdfast_internal.ids') as id, body, octet_length(body) as size from unnest(bodies) as body
    ), stored as (
      insert into holdfast_internal.messages (id, size, body) select id, size, body::json from given
    ), owed as (
      insert into holdfast_internal.deliveries (id, message_id, lane_id, size) select id, id, lane, size from given returning id
    ) select array_agg(id) into ids from owed;
    return ids;
  end $$;
  create function prototype.accept_range(lane integer, bodies text[]) returns bigint[] language plpgsql as $$
  declare ids bigint[] := array(select nextval('holdfast_internal.ids') from generate_series(1, cardinality(bodies)));
  begin
    insert into holdfast_internal.messages (id, size, body)
    select given.id, octet_length(given.body), given.body::json from unnest(ids, bodies) as given (id, body);
    insert into prototype.ranges
    select lane, lower(part), upper(part) - 1, pg_current_xact_id() from unnest(holdfast_internal.id_ranges(ids)) as part;
    return ids;
  end $$;
  create function prototype.settle_range(lane integer, ids bigint[]) returns void language plpgsql as $$
  begin
    delete from prototype.ranges where lane_id = lane and first_id >= ids[1] and last_id <= ids[cardinality(ids)];
    insert into holdfast_internal.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, duration_ms, outcome)
    select id, id, now(), 1, 1, lane, 1, 1 from unnest(ids) as id;
  end $$`

const successes = `select holdfast_internal.settle_successes(1, $2, '{}', array[$1::integer], '{}', '{1}', '{0}', '{1}', '{}')`

const arms = {
  today: {
    accept: `select string_to_array(holdfast_internal.accept_lines('prototype', array_to_string($2::text[], E'\\n')), ',')::bigint[] as ids where $1::integer > 0`,
    settle: successes,
  },
  rows: { accept: 'select prototype.accept_rows($1, $2) as ids', settle: successes },
  range: {
    accept: 'select prototype.accept_range($1, $2) as ids',
    settle: 'select prototype.settle_range($1, $2)',
  },
}

async function main(serverUrl: string): Promise<void> {
  const admin = new Client({ connectionString: serverUrl })
  await admin.connect()
  const database = `delivery_ranges_${process.pid}`
  await admin.query(`create database ${database}`)
  const url = new URL(serverUrl)
  url.pathname = `/${database}`
  try {
    await measure(url.href)
  } finally {
    await admin.query(`drop database ${database} with (force)`)
    await admin.end()
  }
}

async function measure(databaseUrl: string): Promise<void> {
  const holdfast = new Holdfast({ databaseUrl, encryptionKey: null })
  await holdfast.migrate()
  await holdfast.endpoints.create({
    name: 'prototype',
    transport: 'function',
    limits: { maxPending: 10_000_000 },
  })
  await holdfast.stop()
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query(setUp)
  const { lane, pid } = (
    await client.query<{ lane: number; pid: number }>(
      'select id as lane, pg_backend_pid() as pid from holdfast_internal.endpoints',
    )
  ).rows[0] ?? { lane: 0, pid: 0 }
  const bodies = Array.from({ length: batchRows }, (_, n) => JSON.stringify({ n, text: 'x'.repeat(180) }))
  const seen = new Map<string, number[]>()
  for (let round = 0; round < rounds; round++) {
    for (const [name, arm] of Object.entries(arms)) {
      const accepted: string[][] = []
      const accept = await processorTime(pid, async () => {
        for (let batch = 0; batch < batches; batch++) {
          accepted.push(
            (await client.query<{ ids: string[] }>(arm.accept, [lane, bodies])).rows[0]?.ids ?? [],
          )
        }
      })
      const settle = await processorTime(pid, async () => {
        for (const ids of accepted) await client.query(arm.settle, [lane, ids])
      })
      for (const [step, us] of Object.entries({ accept, settle })) {
        const key = `${step} ${name}`
        seen.set(key, [...(seen.get(key) ?? []), us])
      }
    }
  }
  for (const [key, values] of seen) {
    const sorted = [...values].sort((a, b) => a - b)
    const [lowest, median, highest] = [sorted[0], sorted[sorted.length >> 1], sorted.at(-1)].map((us) =>
      us?.toFixed(2),
    )
    console.log(`${key.padEnd(14)} ${median} µs a message (${lowest}–${highest})`)
  }
  await client.end()
}

/** CPU microseconds of the backend per message. */
async function processorTime(pid: number, work: () => Promise<void>): Promise<number> {
  const before = ticksOf(pid)
  await work()
  return ((ticksOf(pid) - before) / ticksPerSecond / (batches * batchRows)) * 1e6
}

function ticksOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return Number(fields[11]) + Number(fields[12])
}

await main(process.argv[2] ?? 'postgres://postgres@127.0.0.1:5432/postgres')
