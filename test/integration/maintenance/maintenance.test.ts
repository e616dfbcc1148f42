import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { MaintenanceTask } from '../../../src/engine/upkeep/upkeep-task.ts'
import { Database } from '../../../src/storage/database.ts'
import { claimLeadership, inTerm, isNotLeader } from '../../../src/storage/leadership.ts'
import { Rig, type RunningNode } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'

const quick = { maintenanceMs: 20, beatMs: 100, deadAfterMs: 3000, fenceAfterMs: 2000 }

describe('maintenance', () => {
  let rig: Rig
  const nodes: RunningNode[] = []
  /** Which node ran what, in order. */
  const runs: { node: number; task: string }[] = []
  let isBroken = true

  const tasksOf = (node: number): MaintenanceTask[] => {
    const ran = (task: string) => runs.push({ node, task })
    return [
      {
        name: 'steady',
        schedule: { everyMs: 50 },
        run: () => Promise.resolve({ ran: ran('steady') }),
      },
      {
        name: 'broken',
        schedule: { everyMs: 50 },
        run: () => {
          ran('broken')
          if (isBroken) throw new Error('the cellar is \u0000 under water')
          return Promise.resolve({ pumped: true })
        },
      },
      {
        name: 'hanging',
        schedule: { everyMs: 50 },
        timeoutMs: 200,
        run: () => {
          ran('hanging')
          return new Promise(() => {})
        },
      },
      {
        name: 'nightly',
        schedule: { cron: '0 3 * * *' },
        run: () => Promise.resolve({ ran: ran('nightly') }),
      },
    ]
  }
  const database = () =>
    new Database({ pool: rig.database.pool, preparesStatements: false, deadlineMs: 10_000 })
  const taskOf = async (name: string) => {
    const { tasks } = await nodes[0]!.holdfast.maintenance.status()
    return tasks.find((task) => task.name === name)!
  }
  const leader = async () => (await nodes[0]!.holdfast.maintenance.status()).leader

  beforeAll(async () => {
    rig = await Rig.create()
    for (const node of [0, 1, 2]) {
      nodes.push(
        await rig.start({ nodeName: `node-${node}`, limits: quick, maintenanceTasks: tasksOf(node) }),
      )
    }
    // The first one led alone; the hashing may move shard 0 once the others are there.
    await until('the shards to be spread', async () => {
      const owners = await rig.value<number>(
        'select count(distinct incarnation) from holdfast_internal.shard_leases where incarnation is not null',
      )
      return owners === 3
    })
  })
  afterAll(() => rig.stop())

  it('runs each task again and again, on one node at a time', async () => {
    runs.length = 0
    await until('twenty runs', () => runs.filter(({ task }) => task === 'steady').length >= 20)
    const leading = (await leader()).node
    expect(leading).toMatch(/^node-[012]$/)
    const last = runs.slice(-10).map(({ node }) => `node-${node}`)
    expect(new Set(last)).toEqual(new Set([leading]))
  })

  it('shows how each task went', async () => {
    const steady = await until(
      'a run',
      () => taskOf('steady'),
      (task) => task.lastSucceededAt !== null,
    )
    expect(steady).toMatchObject({ failures: 0, lastError: null, schedule: { everyMs: 50 } })
    expect(steady.summary).toHaveProperty('ran')
    expect(steady.lastDurationMs).toBeGreaterThanOrEqual(0)
    expect(steady.node).toBe((await leader()).node)
  })

  it('runs the other tasks although one throws and another never ends, and reports both', async () => {
    const broken = await until(
      'two failures',
      () => taskOf('broken'),
      (task) => task.failures >= 2,
    )
    expect(broken.lastError).toBe('the cellar is  under water')
    const hanging = await until(
      'it to time out',
      () => taskOf('hanging'),
      (task) => task.failures >= 1,
    )
    expect(hanging).toMatchObject({ state: 'failing', lastError: 'it took longer than 200 ms' })
    const before = runs.length
    await until('more runs', () => runs.slice(before).filter(({ task }) => task === 'steady').length >= 5)
    // One that doesn't heed its signal is not started a second time beside itself.
    expect(runs.slice(before).filter(({ task }) => task === 'hanging')).toEqual([])
  })

  it('counts a task as recovered after one successful run', async () => {
    isBroken = false
    const mended = await until(
      'it to recover',
      () => taskOf('broken'),
      (task) => task.failures === 0,
    )
    expect(mended).toMatchObject({ lastError: null, summary: { pumped: true } })
    expect(mended.lastFailedAt).not.toBeNull()
  })

  it('runs a nightly task at its hour only, unless it is requested', async () => {
    const nightly = await taskOf('nightly')
    expect(nightly.lastStartedAt).toBeNull()
    expect([nightly.nextRunAt.getUTCHours(), nightly.nextRunAt.getUTCMinutes()]).toEqual([3, 0])
    await nodes[1]!.holdfast.as('ada').maintenance.run('nightly')
    await until('it to run', () => runs.some(({ task }) => task === 'nightly'))
    const after = await until(
      'its end',
      () => taskOf('nightly'),
      (task) => task.lastSucceededAt !== null,
    )
    expect(after.nextRunAt).toEqual(nightly.nextRunAt)
    await expect(nodes[1]!.holdfast.maintenance.run('daily')).rejects.toMatchObject({
      code: 'task_not_found',
    })
  })

  it('purges idempotency keys whose window is over, and only those', async () => {
    await rig.rows(
      `insert into holdfast_internal.idempotency_keys (scope, key, body_hash, result, expires_at)
       select 's', 'old-' || n, '', '[]'::jsonb, now() - interval '1 second' from generate_series(1, 10) as n
       union all select 's', 'new', '', '[]', now() + interval '1 hour'`,
    )
    await nodes[0]!.holdfast.maintenance.run('idempotency-keys')
    await until(
      'the old ones to go',
      () => rig.count('idempotency_keys'),
      (count) => count === 1,
    )
  })

  it('makes a missing partition', async () => {
    const month = await rig.value<string>(
      `select to_char(now() at time zone 'UTC' + interval '3 months', 'YYYY_MM')`,
    )
    await rig.rows(`drop table holdfast_internal.messages_${month}`)
    await nodes[0]!.holdfast.maintenance.run('partitions')
    await until('the partition', () =>
      rig.value(`select to_regclass('holdfast_internal.messages_${month}') is not null`),
    )
  })

  it('moves to another node under a new term when the leader stops, and refuses the old one', async () => {
    const before = await leader()
    const stopped = nodes.findIndex((_, index) => before.node === `node-${index}`)
    const incarnation = nodes[stopped]!.holdfast.node!.incarnation
    const old = { incarnation, term: before.term }
    await inTerm(database(), old, () => Promise.resolve())
    await nodes[stopped]!.holdfast.node!.stop()
    const after = await until('another leader', leader, ({ node }) => node !== before.node)
    expect(after.term).toBeGreaterThan(before.term)
    runs.length = 0
    await until('it to work', () => runs.some(({ task, node }) => task === 'steady' && node !== stopped))
    const refusal = inTerm(database(), old, (client) =>
      client.query('delete from holdfast_internal.maintenance_tasks'),
    )
    await expect(refusal).rejects.toSatisfy(isNotLeader)
    expect(await rig.count('maintenance_tasks')).toBeGreaterThan(0)
  })

  it('gives no new term while the old leader is in the middle of a change', async () => {
    const { term } = await leader()
    const { incarnation, epoch } = (
      await rig.rows<{ incarnation: number; epoch: number }>(
        'select incarnation, epoch from holdfast_internal.shard_leases where shard = 0',
      )
    )[0]!
    await inTerm(database(), { incarnation, term }, async () => {
      expect(await claimLeadership(database(), incarnation, epoch)).toBeNull()
    })
    // Whoever doesn't own the leading shard gets none either.
    expect(await claimLeadership(database(), incarnation, epoch - 1)).toBeNull()
    expect(await claimLeadership(database(), incarnation + 1, epoch)).toBeNull()
  })
})

it('a task whose node no longer leads is left to the next leader, which is nothing to complain of', async () => {
  const rig = await Rig.create()
  try {
    let refusals = 0
    const { complaints } = await rig.start({
      limits: quick,
      maintenanceTasks: [
        {
          name: 'ousted',
          schedule: { everyMs: 20 },
          run: async ({ fenced }) => {
            await rig.rows('update holdfast_internal.leadership set term = term + 1')
            refusals += 1
            return fenced(() => Promise.resolve({}))
          },
        },
      ],
    })
    await until('it to be refused, and run again', () => refusals >= 2)
    expect(complaints).toEqual([])
  } finally {
    await rig.stop()
  }
})
