import { z } from 'zod'
import { field } from '../core/field.ts'
import { jobInput, jobName } from '../core/jobs/job-settings.ts'
import { runOptions } from '../core/jobs/run-options.ts'
import { defineOperation } from './define-operation.ts'
import { because, jsonObject, listOf, pageQuery, timestamp, wholeListQuery } from './shapes.ts'

const tag = 'Jobs'

const jobParams = z.object({
  name: z
    .string()
    .max(127)
    .meta({ description: 'The job.', examples: ['nightly-report'] }),
})

/** The times of the job's own schedule, which has the job's name. */
const timing = {
  cron: field
    .text(255)
    .nullable()
    .optional()
    .meta({ description: 'Five fields, or six with seconds in front.' }),
  timezone: field.text(100).optional(),
  payload: z.unknown().optional().meta({ description: 'The input of its scheduled runs.' }),
  overlap: field.oneOf('skip', 'queue', 'allow').optional(),
  catchUp: field.oneOf('one', 'all', 'none').optional(),
}

const jobShape = z
  .object({
    name: z.string(),
    queue: z.string(),
    retry: jsonObject,
    timeoutMs: z.int(),
    priority: z.int().optional(),
    expiresAfterMs: z.int().optional(),
    concurrency: z.int().optional(),
    ratePerSecond: z.number().optional(),
    ratePerSecondPerKey: z.number().optional(),
    concurrencyPerKey: z.int(),
    maxCrashes: z.int(),
    onZombie: z.enum(['fail', 'requeue']),
    onUnhandled: z.enum(['wait', 'fail']).optional(),
    worker: z
      .string()
      .optional()
      .meta({ description: 'The only worker that executes its runs. Without one, any worker does.' }),
    ttlMs: z.int(),
    onTtl: z.enum(['fail', 'share']),
    autoDisable: jsonObject,
    cron: z.string().nullable(),
    timezone: z.string().nullable(),
    overlap: z.enum(['skip', 'queue', 'allow']).nullable(),
    catchUp: z.enum(['one', 'all', 'none']).nullable(),
    payload: z.unknown().meta({ description: 'The input of its scheduled runs.' }),
    nextRunAt: timestamp.nullable(),
    overrides: jsonObject.meta({
      description: 'Settings that were set through the API and override those in the code.',
    }),
    state: z.enum(['active', 'paused', 'disabled']),
    stateReason: z.string().nullable(),
    stateChangedAt: timestamp,
    reenableAt: timestamp.nullable(),
    failures: z.int().meta({ description: 'Number of failed runs in a row.' }),
    declaredAt: timestamp.nullable().meta({
      description:
        'When a worker first declared the settings in its code; null when no worker has declared this job.',
    }),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'Job' })

type Settings = typeof jobInput.shape
/** Null removes an override. */
const takenBack = Object.fromEntries(
  Object.entries(jobInput.shape).map(([name, setting]) => [name, setting.nullable()]),
) as unknown as { readonly [Name in keyof Settings]: z.ZodNullable<Settings[Name]> }

const reason = z
  .strictObject({ reason: field.text(1000).optional() })
  .meta({ examples: [{ reason: 'Planned maintenance until 9:00.' }] })

const queueShape = z
  .object({
    name: z.string(),
    concurrency: z.int().nullable(),
    ratePerSecond: z.number().nullable(),
    state: z.enum(['active', 'paused']),
    stateReason: z.string().nullable(),
    deadLetters: z.int().meta({ description: 'Number of open dead letters of this queue.' }),
    owed: z.int().meta({
      description: 'Number of unfinished runs; in lists, a number above 1,000 may be a minute old.',
    }),
    oldestWaitingSince: timestamp
      .nullable()
      .meta({ description: 'Since when the oldest run that could start now has waited; null: none waits.' }),
    succeededPerMinute: z
      .number()
      .meta({ description: 'Runs that succeed in a minute, estimated from the newest 200 attempts.' }),
    unhandled: z
      .array(z.object({ job: z.string(), runs: z.int(), since: timestamp }))
      .meta({ description: 'Jobs with waiting runs that no live worker handles.' }),
  })
  .meta({ id: 'Queue' })

const queueParams = z.object({
  name: z
    .string()
    .max(63)
    .meta({ description: 'The queue.', examples: ['default'] }),
})

const workerShape = z
  .object({
    id: z.int(),
    name: z.string(),
    version: z.string(),
    host: z.string(),
    pid: z.int(),
    queues: z.array(z.string()),
    tags: z.array(z.string()),
    concurrency: z.int(),
    state: z.enum(['active', 'draining', 'stopping']),
    running: z.int(),
    startedAt: timestamp,
    lastBeatAt: timestamp,
    blockedSince: timestamp.nullable().meta({
      description:
        'Since when its event loop has been blocked by a handler that does not yield; null while it is not.',
    }),
    blockedBy: z.array(z.string()).meta({ description: 'The runs of which one blocks its event loop.' }),
  })
  .meta({ id: 'Worker' })

export const jobOperations = {
  list: defineOperation({
    id: 'listJobs',
    method: 'GET',
    path: '/v1/jobs',
    tag,
    summary: 'List jobs by name',
    permission: 'read',
    query: z.strictObject(pageQuery),
    result: listOf(jobShape),
  }),
  create: defineOperation({
    id: 'createJob',
    method: 'POST',
    path: '/v1/jobs',
    tag,
    summary: 'Create a job and its schedule',
    description:
      "The job's handler is in the code of a worker. Settings given here override those in the code.",
    permission: 'configure',
    body: z.strictObject({ ...jobInput.shape, ...timing, name: jobName }).meta({
      id: 'JobInput',
      examples: [
        { name: 'nightly-report', queue: 'reports', cron: '0 3 * * *', timezone: 'Europe/Amsterdam' },
      ],
    }),
    status: 201,
    result: jobShape,
    errors: ['job_exists', 'invalid_job', 'invalid_schedule'],
  }),
  get: defineOperation({
    id: 'getJob',
    method: 'GET',
    path: '/v1/jobs/{name}',
    tag,
    summary: 'Get a job with its overrides',
    permission: 'read',
    params: jobParams,
    result: jobShape,
    errors: ['job_not_found'],
  }),
  update: defineOperation({
    id: 'updateJob',
    method: 'PATCH',
    path: '/v1/jobs/{name}',
    tag,
    summary: 'Override the settings or the schedule of a job',
    description:
      'Only the given fields change; null removes an override, and `cron: null` removes the schedule.',
    permission: 'configure',
    params: jobParams,
    body: z
      .strictObject({ ...takenBack, ...timing })
      .meta({ id: 'JobChanges', examples: [{ retry: { maxRetries: 5 }, timeoutMs: null }] }),
    result: jobShape,
    errors: ['job_not_found', 'invalid_job', 'invalid_schedule'],
  }),
  trigger: defineOperation({
    id: 'triggerJob',
    method: 'POST',
    path: '/v1/jobs/{name}/trigger',
    tag,
    summary: 'Start a run manually',
    description:
      'Accepts the options of a run: `worker` or `requireTags` select the workers, `delayMs` or `runAt` set the time, `tags` and `correlationId` make it searchable.',
    permission: 'operate',
    params: jobParams,
    body: z.strictObject({ ...runOptions.shape, payload: z.unknown().optional() }).meta({
      id: 'TriggerInput',
      examples: [
        { payload: { month: '2030-01' }, reason: 'The first one failed.', requireTags: ['reports'] },
      ],
    }),
    isBodyOptional: true,
    status: 202,
    result: z.object({ id: z.string() }),
    errors: ['job_not_found', 'invalid_payload', 'invalid_options', 'payload_too_large', 'queue_full'],
    maxBodyBytes: 2 * 1024 * 1024,
  }),
  delete: defineOperation({
    id: 'deleteJob',
    method: 'DELETE',
    path: '/v1/jobs/{name}',
    tag,
    summary: 'Delete a job and its schedules; the history of its runs is kept',
    description:
      'Rejected while runs are waiting or running: cancel them first. A worker whose code still defines the job creates it again when it starts.',
    permission: 'configure',
    params: jobParams,
    errors: ['job_not_found', 'still_owed'],
  }),
  enable: jobSwitch('enable', 'Resume a paused or disabled job'),
  pause: jobSwitch('pause', 'Pause a job: its runs wait'),
  disable: jobSwitch('disable', 'Disable a job: its runs wait until it is enabled'),
  listQueues: defineOperation({
    id: 'listQueues',
    method: 'GET',
    path: '/v1/queues',
    tag: 'Queues',
    summary: 'List queues',
    permission: 'read',
    query: z.strictObject(wholeListQuery),
    result: listOf(queueShape),
  }),
  getQueue: defineOperation({
    id: 'getQueue',
    method: 'GET',
    path: '/v1/queues/{name}',
    tag: 'Queues',
    summary: 'Get a queue with its number of unfinished runs',
    description:
      '`owed` (unfinished runs) is counted to 100,000 on each call, which is expensive: do not poll it.',
    permission: 'read',
    params: queueParams,
    result: queueShape,
    errors: ['queue_not_found'],
  }),
  limitQueue: defineOperation({
    id: 'limitQueue',
    method: 'PUT',
    path: '/v1/queues/{name}',
    tag: 'Queues',
    summary: 'Set the limits of a queue across all workers',
    description: 'A limit that is left out is removed.',
    permission: 'configure',
    params: queueParams,
    body: z
      .strictObject({
        concurrency: field.wholeNumber(1, 100_000).nullable().optional(),
        ratePerSecond: field.numberBetween(0.001, 100_000).nullable().optional(),
        ...because,
      })
      .meta({ id: 'QueueLimits', examples: [{ concurrency: 10 }] }),
    errors: ['invalid_job'],
  }),
  pauseQueue: queueSwitch('pause', 'Pause a queue: workers claim no runs from it'),
  resumeQueue: queueSwitch('resume', 'Resume a queue'),
  listWorkers: defineOperation({
    id: 'listWorkers',
    method: 'GET',
    path: '/v1/workers',
    tag: 'Workers',
    summary: 'List workers with their heartbeats and running runs',
    permission: 'read',
    query: z.strictObject(wholeListQuery),
    result: listOf(workerShape),
  }),
  drainWorker: workerSwitch('drain', 'Drain a worker: it finishes its running runs and claims no more'),
  undrainWorker: workerSwitch('undrain', 'Let a draining worker claim runs again'),
}

function workerSwitch(action: 'drain' | 'undrain', summary: string) {
  return defineOperation({
    id: `${action}Worker`,
    method: 'POST',
    path: `/v1/workers/{id}/${action}`,
    tag: 'Workers',
    summary,
    permission: 'operate',
    params: z.object({
      id: z.coerce
        .number({ error: 'must be a worker id' })
        .int()
        .min(0)
        .max(2_147_483_647)
        .meta({ examples: [7] }),
    }),
    errors: ['worker_not_found'],
  })
}

function jobSwitch(action: 'enable' | 'pause' | 'disable', summary: string) {
  return defineOperation({
    id: `${action}Job`,
    method: 'POST',
    path: `/v1/jobs/{name}/${action}`,
    tag,
    summary,
    permission: 'operate',
    params: jobParams,
    body: reason,
    isBodyOptional: true,
    result: jobShape,
    errors: ['job_not_found'],
  })
}

function queueSwitch(action: 'pause' | 'resume', summary: string) {
  return defineOperation({
    id: `${action}Queue`,
    method: 'POST',
    path: `/v1/queues/{name}/${action}`,
    tag: 'Queues',
    summary,
    permission: 'operate',
    params: queueParams,
    body: reason,
    isBodyOptional: true,
    errors: ['queue_not_found'],
  })
}
