import { z } from 'zod'
import { field } from '../core/field.ts'
import { jobInput, jobName } from '../core/jobs/job-settings.ts'
import { runOptions } from '../core/jobs/run-options.ts'
import { defineOperation } from './define-operation.ts'
import { jsonObject, listOf, pageQuery, timestamp } from './shapes.ts'

const tag = 'Jobs'

const jobParams = z.object({
  name: z
    .string()
    .max(127)
    .meta({ description: 'The job.', examples: ['nightly-report'] }),
})

/** When it runs by itself; the schedule has the job's name. */
const timing = {
  cron: field
    .text(255)
    .nullable()
    .optional()
    .meta({ description: 'Five fields, or six with seconds in front.' }),
  timezone: field.text(100).optional(),
  payload: z.unknown().optional().meta({ description: 'What its scheduled runs get.' }),
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
    concurrencyPerKey: z.int(),
    maxCrashes: z.int(),
    onZombie: z.enum(['fail', 'requeue']),
    ttlMs: z.int(),
    onTtl: z.enum(['fail', 'share']),
    autoDisable: jsonObject,
    cron: z.string().nullable(),
    timezone: z.string().nullable(),
    overlap: z.enum(['skip', 'queue', 'allow']).nullable(),
    catchUp: z.enum(['one', 'all', 'none']).nullable(),
    payload: z.unknown().meta({ description: 'What its scheduled runs get.' }),
    nextRunAt: timestamp.nullable(),
    overrides: jsonObject.meta({ description: 'What was set here and beats what the code says.' }),
    state: z.enum(['active', 'paused', 'disabled']),
    stateReason: z.string().nullable(),
    stateChangedAt: timestamp,
    reenableAt: timestamp.nullable(),
    failures: z.int().meta({ description: 'Failed runs in a row.' }),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'Job' })

type Settings = typeof jobInput.shape
/** Null takes an override back. */
const takenBack = Object.fromEntries(
  Object.entries(jobInput.shape).map(([name, setting]) => [name, setting.nullable()]),
) as unknown as { readonly [Name in keyof Settings]: z.ZodNullable<Settings[Name]> }

const reason = z
  .strictObject({ reason: field.text(1000).optional() })
  .meta({ examples: [{ reason: 'Planned work until nine.' }] })

const queueShape = z
  .object({
    name: z.string(),
    concurrency: z.int().nullable(),
    ratePerSecond: z.number().nullable(),
    state: z.enum(['active', 'paused']),
    stateReason: z.string().nullable(),
    deadLetters: z.int().meta({ description: 'Failed runs that nobody has settled.' }),
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
    summary: 'Make a job known, and schedule it',
    description: 'Its handler is in the code of a worker. What is set here overrides what that code says.',
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
    summary: 'Look at a job, with what overrides its code',
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
    summary: 'Override settings of a job, or its schedule',
    description: 'What is given changes; null takes an override back, and `cron: null` ends the schedule.',
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
    summary: 'Start a run by hand',
    description:
      'Takes the options of a run: `worker` or `requireTags` say who may run it, `delayMs` or `runAt` when, `tags` and `correlationId` how it is found.',
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
    summary: 'Delete a job and its schedules; what became of its runs stays to be looked at',
    description:
      'Refused while it owes runs: cancel them first. A worker whose code still defines the job declares it again when it starts.',
    permission: 'configure',
    params: jobParams,
    errors: ['job_not_found', 'still_owed'],
  }),
  enable: jobSwitch('enable', 'End a pause or a disabling'),
  pause: jobSwitch('pause', 'Keep its runs waiting'),
  disable: jobSwitch('disable', 'Keep its runs waiting until somebody enables it'),
  listQueues: defineOperation({
    id: 'listQueues',
    method: 'GET',
    path: '/v1/queues',
    tag: 'Queues',
    summary: 'List queues',
    permission: 'read',
    result: z.object({ data: z.array(queueShape) }),
  }),
  getQueue: defineOperation({
    id: 'getQueue',
    method: 'GET',
    path: '/v1/queues/{name}',
    tag: 'Queues',
    summary: 'Look at a queue, with how many runs it owes',
    description: '`owed` is counted: ask for it now and then only.',
    permission: 'read',
    params: queueParams,
    result: queueShape.extend({ owed: z.int() }).meta({ id: 'QueueDetail' }),
    errors: ['queue_not_found'],
  }),
  limitQueue: defineOperation({
    id: 'limitQueue',
    method: 'PUT',
    path: '/v1/queues/{name}',
    tag: 'Queues',
    summary: 'Limit a queue over all workers',
    description: 'What is left out is lifted.',
    permission: 'configure',
    params: queueParams,
    body: z
      .strictObject({
        concurrency: field.wholeNumber(1, 100_000).nullable().optional(),
        ratePerSecond: field.numberBetween(0.001, 100_000).nullable().optional(),
      })
      .meta({ id: 'QueueLimits', examples: [{ concurrency: 10 }] }),
    errors: ['invalid_job'],
  }),
  pauseQueue: queueSwitch('pause', 'Claim nothing from it'),
  resumeQueue: queueSwitch('resume', 'Claim from it again'),
  listWorkers: defineOperation({
    id: 'listWorkers',
    method: 'GET',
    path: '/v1/workers',
    tag: 'Workers',
    summary: 'The fleet: heartbeats, and how much each runs',
    permission: 'read',
    result: z.object({ data: z.array(workerShape) }),
  }),
  drainWorker: workerSwitch('drain', 'Let it finish what it has and claim nothing more'),
  undrainWorker: workerSwitch('undrain', 'Let a draining worker claim again'),
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
