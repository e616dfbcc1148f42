import type { jobOperations } from '../../contract/jobs.ts'
import { HoldfastError } from '../../core/errors.ts'
import { defineJob } from '../../jobs/job.ts'
import type { JobView } from '../../sdk/jobs.ts'
import type { Management } from '../../sdk/management.ts'
import { RawJson } from '../../sdk/raw-json.ts'
import type { ScheduleInput } from '../../sdk/schedule-input.ts'
import type { ScheduleView } from '../../sdk/schedules.ts'
import type { HandlersFor } from '../call.ts'
import { decodeCursor, toPage } from '../cursor.ts'
import { withExactPayload } from '../exact-body.ts'
import { pageOfWhole } from '../whole-list.ts'

/** The job's own schedule, which has the job's name. */
interface Timing {
  readonly cron?: string | null | undefined
  readonly timezone?: string | undefined
  readonly payload?: unknown
  readonly overlap?: 'skip' | 'queue' | 'allow' | undefined
  readonly catchUp?: 'one' | 'all' | 'none' | undefined
}

export const jobHandlers: HandlersFor<typeof jobOperations> = {
  list: async ({ query, management }) => {
    const { limit, cursor } = query
    const afterName = decodeCursor('jobs', cursor)
    const rows = await management.jobs.list({
      ...(afterName !== undefined && { afterName }),
      limit: limit + 1,
    })
    const page = toPage('jobs', rows, limit, ({ name }) => name)
    const schedules = await management.schedules.getMany(page.data.map(({ name }) => name))
    const byName = new Map(schedules.map((each) => [each.name, each]))
    return { ...page, data: page.data.map((job) => scheduled(job, byName.get(job.name))) }
  },
  create: async ({ body, exact, management }) => {
    const { name, cron, timezone, payload: _, overlap, catchUp, ...settings } = body
    const payload = exact((given) => given.payload)
    const existing = await find(management.jobs.get(name), 'job_not_found')
    if (existing !== null) {
      throw new HoldfastError('job_exists', `A job named "${name}" already exists. Update it instead.`, {
        job: name,
      })
    }
    await management.jobs.declare(defineJob({ name }))
    await management.jobs.override(name, settings)
    await schedule(name, { cron, timezone, payload, overlap, catchUp }, management)
    return withSchedule(await management.jobs.get(name), management)
  },
  get: async ({ params, management }) => withSchedule(await management.jobs.get(params.name), management),
  update: async ({ params, body, exact, management }) => {
    const { cron, timezone, payload: _, overlap, catchUp, ...settings } = body
    const payload = exact((given) => given.payload)
    const job = await management.jobs.override(params.name, settings)
    await schedule(params.name, { cron, timezone, payload, overlap, catchUp }, management)
    return withSchedule(job, management)
  },
  trigger: async ({ params, body, exact, management }) => {
    const payload = exact((given) => given.payload)
    const { payload: _, ...options } = body
    return management.jobs.trigger(params.name, { ...options, ...(payload !== undefined && { payload }) })
  },
  delete: async ({ params, management }) => management.jobs.delete(params.name),
  enable: async ({ params, body, management }) => {
    await management.jobs.enable(params.name, body.reason)
    return withSchedule(await management.jobs.get(params.name), management)
  },
  pause: async ({ params, body, management }) => {
    await management.jobs.pause(params.name, body.reason)
    return withSchedule(await management.jobs.get(params.name), management)
  },
  disable: async ({ params, body, management }) => {
    await management.jobs.disable(params.name, body.reason)
    return withSchedule(await management.jobs.get(params.name), management)
  },
  listQueues: async ({ query, management }) =>
    pageOfWhole('queues', await management.queues.list(), query, ({ name }) => name),
  getQueue: async ({ params, management }) => ({
    ...(await management.queues.get(params.name)),
    owed: await management.queues.owed(params.name),
  }),
  limitQueue: async ({ params, body: { reason, ...limits }, management }) =>
    management.queues.limit(params.name, limits, reason),
  pauseQueue: async ({ params, body, management }) => management.queues.pause(params.name, body.reason),
  resumeQueue: async ({ params, body, management }) => management.queues.resume(params.name, body.reason),
  listWorkers: async ({ query, management }) =>
    pageOfWhole('workers', await management.workers.list(), query, ({ id }) => id),
  drainWorker: async ({ params, management }) => management.workers.drain(params.id),
  undrainWorker: async ({ params, management }) => management.workers.undrain(params.id),
}

async function schedule(job: string, timing: Timing, management: Management): Promise<void> {
  const { cron, timezone, payload, overlap, catchUp } = timing
  if (cron === null) {
    await find(management.schedules.delete(job), 'schedule_not_found')
    return
  }
  const current = await find(management.schedules.get(job), 'schedule_not_found')
  const isChanged = [cron, timezone, payload, overlap, catchUp].some((given) => given !== undefined)
  if (!isChanged || (cron === undefined && current === null)) return
  await management.schedules.set({
    name: job,
    job,
    ...(cron === undefined ? timesOf(current) : { cron }),
    ...(current?.options && { options: current.options }),
    timezone: timezone ?? current?.timezone ?? 'UTC',
    payload: (payload ?? (current === null ? null : new RawJson(current.payloadText))) as never,
    overlap: overlap ?? current?.overlap ?? 'skip',
    catchUp: catchUp ?? current?.catchUp ?? 'one',
  } as ScheduleInput)
}

/** The times of a schedule: by cron, by an interval, or once. */
function timesOf(current: ScheduleView | null) {
  return {
    cron: current?.cron ?? undefined,
    everyMs: current?.everyMs ?? undefined,
    runAt: current?.runAt ?? undefined,
  }
}

async function withSchedule(job: JobView, management: Management) {
  const [found] = await management.schedules.getMany([job.name])
  return scheduled(job, found)
}

function scheduled(job: JobView, found: ScheduleView | undefined) {
  return {
    ...job,
    retry: { ...job.retry },
    autoDisable: { ...job.autoDisable },
    cron: found?.cron ?? null,
    timezone: found?.timezone ?? null,
    overlap: found?.overlap ?? null,
    catchUp: found?.catchUp ?? null,
    payload: found === undefined ? null : withExactPayload(found).payload,
    nextRunAt: found?.nextAt ?? null,
  }
}

/** Null if it doesn't exist. */
async function find<Found>(looked: Promise<Found>, missing: string): Promise<Found | null> {
  try {
    return await looked
  } catch (error) {
    if (error instanceof HoldfastError && error.code === missing) return null
    throw error
  }
}
