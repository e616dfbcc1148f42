import { z } from 'zod'
import { field } from '../core/field.ts'
import { defineOperation } from './define-operation.ts'
import { timeFilter, tracePage } from './filters.ts'
import { readAs } from './read-as.ts'
import { givenTime, jsonObject, listOf, pageQuery, timestamp } from './shapes.ts'

const tag = 'Runs'

const runParams = z.object({
  id: z
    .string()
    .max(64)
    .meta({ description: 'The run.', examples: ['run_0jm3x1c8000'] }),
})

const states = [
  'scheduled',
  'waiting',
  'running',
  'succeeded',
  'failed',
  'timed_out',
  'cancelled',
  'expired',
] as const

const summary = {
  id: z.string(),
  messageId: z.string(),
  correlationId: z.string().meta({ description: "As given; the message's id by default." }),
  job: z.string().nullable(),
  queue: z.string(),
  state: z.enum(states),
  attempt: z.int().meta({ description: 'Number of attempts, including a running one.' }),
  crashes: z.int().meta({
    description: 'How often its worker died while it had the run; after its end, its interrupted attempts.',
  }),
  priority: z.int().nullable().meta({ description: 'Null after its end, unless it became a dead letter.' }),
  dueAt: timestamp.nullable(),
  expiresAt: timestamp.nullable(),
  worker: z
    .string()
    .nullable()
    .meta({ description: 'The worker that runs it, or that made its last attempt.' }),
  target: z
    .string()
    .nullable()
    .meta({ description: 'Who may run it, like `worker:press-7` or `tags:gpu`; null after its end.' }),
  createdAt: timestamp.nullable(),
  endedAt: timestamp.nullable(),
  error: z.string().nullable(),
  errorCode: z.string().nullable(),
  isUnhandled: z.boolean().meta({ description: 'It waits, and no live worker has a handler for its job.' }),
}

const runShape = z.object(summary).meta({ id: 'Run' })

const wholeRun = z
  .object({
    ...summary,
    payload: z.unknown(),
    headers: z.record(z.string(), z.string()),
    metadata: jsonObject,
    result: z.unknown(),
    progress: z.unknown(),
    logs: z.array(z.unknown()),
    deadLetterId: z
      .string()
      .nullable()
      .meta({ description: 'Of its failure, or of the one that it redrives.' }),
    redriveOf: z.string().nullable().meta({ description: 'The run that failed, when this one redrives it.' }),
    redrivenRunId: z.string().nullable().meta({ description: 'The last run that redrives it.' }),
    attempts: z.array(
      z.object({
        attempt: z.int(),
        startedAt: timestamp,
        durationMs: z.int().nullable(),
        outcome: z.string(),
        errorCode: z.string().nullable(),
        error: z.string().nullable(),
        worker: z
          .string()
          .nullable()
          .meta({ description: 'The worker that made the attempt; null if the run ended without one.' }),
        logs: z.array(z.unknown()),
      }),
    ),
  })
  .meta({ id: 'RunDetail' })

export const runOperations = {
  list: defineOperation({
    id: 'listRuns',
    method: 'GET',
    path: '/v1/runs',
    tag,
    summary: 'List runs, newest first',
    permission: 'read',
    query: z.strictObject({
      ...tracePage,
      queue: field.text(63).optional(),
      job: field.text(127).optional(),
      state: field.oneOf(...states).optional(),
      worker: field
        .text(127)
        .optional()
        .meta({ description: 'The worker that runs it, or that made its last attempt.' }),
      tag: field.text(63).optional().meta({ description: 'One of its `tags` or `requireTags`.' }),
      correlationId: field.text(255).optional(),
      ...timeFilter,
    }),
    result: listOf(runShape),
    errors: ['invalid_filter'],
  }),
  get: defineOperation({
    id: 'getRun',
    method: 'GET',
    path: '/v1/runs/{id}',
    tag,
    summary: 'Get a run with its input, result, progress, logs and attempts',
    permission: 'read',
    params: runParams,
    result: wholeRun,
    errors: ['run_not_found'],
  }),
  cancel: defineOperation({
    id: 'cancelRun',
    method: 'POST',
    path: '/v1/runs/{id}/cancel',
    tag,
    summary: 'Cancel a waiting run, or signal cancellation to the handler of a running one',
    permission: 'operate',
    params: runParams,
    body: z
      .strictObject({ reason: field.text(1000).optional() })
      .meta({ examples: [{ reason: 'Planned maintenance until 9:00.' }] }),
    isBodyOptional: true,
    result: z.object({ outcome: z.enum(['cancelled', 'requested']) }),
    errors: ['run_not_found'],
  }),
  retry: defineOperation({
    id: 'retryRun',
    method: 'POST',
    path: '/v1/runs/{id}/retry',
    tag,
    summary: 'Make a delayed run due now',
    description: 'To run a failed run again, redrive its dead letter.',
    permission: 'operate',
    params: runParams,
    result: z.object({ isDueNow: z.boolean() }),
    errors: ['run_not_found'],
  }),
}

const scheduleParams = z.object({
  name: z
    .string()
    .max(127)
    .meta({ description: 'The schedule.', examples: ['nightly'] }),
})

const scheduleShape = z
  .object({
    name: z.string(),
    job: z.string(),
    cron: z.string().nullable(),
    timezone: z.string(),
    everyMs: z.int().nullable(),
    runAt: timestamp.nullable(),
    payload: z.unknown(),
    options: jsonObject.nullable(),
    overlap: z.enum(['skip', 'queue', 'allow']),
    catchUp: z.enum(['one', 'all', 'none']),
    isPaused: z.boolean(),
    pauseReason: z.string().nullable(),
    nextAt: timestamp.nullable(),
    lastAt: timestamp.nullable(),
    lastRunId: z.string().nullable(),
    fired: z.int(),
    skipped: z.int(),
  })
  .meta({ id: 'Schedule' })

const scheduleFields = {
  job: field.text(127),
  payload: z.unknown().optional(),
  options: jsonObject.optional().meta({
    description:
      'Options of the runs it creates, as for enqueueing: `priority`, `requireTags`, `ttlMs` and so on.',
  }),
  overlap: field.oneOf('skip', 'queue', 'allow').optional(),
  catchUp: field.oneOf('one', 'all', 'none').optional(),
}
const timezone = field.text(100).optional()
const everyMs = field.wholeNumber(1000, 366 * 86_400_000)

const scheduleSettings = z.strictObject({
  ...scheduleFields,
  cron: field.text(255).optional(),
  timezone,
  everyMs: everyMs.optional(),
  runAt: givenTime.optional(),
})

/** For the OpenAPI document: exactly one of three fields sets the times. The SDK validates that, with its own error. */
const describedSchedule = z
  .xor([
    z.strictObject({ ...scheduleFields, cron: field.text(255), timezone }).meta({ id: 'CronSchedule' }),
    z.strictObject({ ...scheduleFields, everyMs, timezone }).meta({ id: 'IntervalSchedule' }),
    z.strictObject({ ...scheduleFields, runAt: givenTime, timezone }).meta({ id: 'OnceSchedule' }),
  ])
  .meta({
    id: 'ScheduleSettings',
    description: 'When a job runs: by a cron expression, at an interval, or once.',
    examples: [{ job: 'nightly-report', cron: '0 3 * * *', timezone: 'Europe/Amsterdam' }],
  })

export const scheduleOperations = {
  list: defineOperation({
    id: 'listSchedules',
    method: 'GET',
    path: '/v1/schedules',
    tag: 'Schedules',
    summary: 'List schedules by name',
    permission: 'read',
    query: z.strictObject(pageQuery),
    result: listOf(scheduleShape),
  }),
  put: defineOperation({
    id: 'putSchedule',
    method: 'PUT',
    path: '/v1/schedules/{name}',
    tag: 'Schedules',
    summary: 'Create or replace a schedule',
    description: 'Exactly one of `cron`, `everyMs` and `runAt`. Fields that are left out get their default.',
    permission: 'configure',
    params: scheduleParams,
    body: readAs(scheduleSettings, describedSchedule),
    result: scheduleShape,
    errors: ['job_not_found', 'invalid_schedule'],
  }),
  get: defineOperation({
    id: 'getSchedule',
    method: 'GET',
    path: '/v1/schedules/{name}',
    tag: 'Schedules',
    summary: 'Get a schedule with its next ten times',
    permission: 'read',
    params: scheduleParams,
    result: scheduleShape.extend({ next: z.array(timestamp) }).meta({ id: 'ScheduleDetail' }),
    errors: ['schedule_not_found'],
  }),
  pause: scheduleSwitch('pause', 'Pause a schedule'),
  resume: scheduleSwitch('resume', 'Resume a schedule from its next time'),
  delete: defineOperation({
    id: 'deleteSchedule',
    method: 'DELETE',
    path: '/v1/schedules/{name}',
    tag: 'Schedules',
    summary: 'Delete a schedule; the runs it created are kept',
    permission: 'configure',
    params: scheduleParams,
    errors: ['schedule_not_found'],
  }),
}

function scheduleSwitch(action: 'pause' | 'resume', summaryText: string) {
  return defineOperation({
    id: `${action}Schedule`,
    method: 'POST',
    path: `/v1/schedules/{name}/${action}`,
    tag: 'Schedules',
    summary: summaryText,
    permission: 'operate',
    params: scheduleParams,
    body: z
      .strictObject({ reason: field.text(1000).optional() })
      .meta({ examples: [{ reason: 'Planned maintenance until 9:00.' }] }),
    isBodyOptional: true,
    result: scheduleShape,
    errors: ['schedule_not_found'],
  })
}
