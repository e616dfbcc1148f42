import { z } from 'zod'
import { field } from '../field.ts'
import { jobName } from './job-settings.ts'
import { runOptions } from './run-options.ts'

const nameAdvice = 'must be 1 to 127 letters, digits, ".", "_", ":" and "-", beginning with a letter or digit'
const exactlyOne = 'give exactly one of cron, everyMs and runAt'
const maxEveryMs = 366 * 86_400_000

/** Fields of a schedule. */
export const scheduleInput = z
  .strictObject({
    name: z.string({ error: nameAdvice }).regex(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,126}$/, { error: nameAdvice }),
    job: jobName,
    /** Five fields, or six with seconds in front. */
    cron: field.text(255).optional(),
    timezone: field.text(100).optional(),
    everyMs: field.wholeNumber(1000, maxEveryMs).optional(),
    runAt: runOptions.shape.runAt,
    payload: z.json().optional(),
    /** Options of the runs that the schedule creates. */
    options: z.lazy(() => runOptions).optional(),
    /** If the last run has not ended: skip this one, run it after that one, or run both. */
    overlap: field.oneOf('skip', 'queue', 'allow').optional(),
    /** After a downtime: run the latest missed fire, all of them, or none. */
    catchUp: field.oneOf('one', 'all', 'none').optional(),
  })
  .refine(
    (given) => [given.cron, given.everyMs, given.runAt].filter((each) => each !== undefined).length === 1,
    {
      path: ['cron'],
      error: exactlyOne,
    },
  )
  .refine((given) => given.overlap !== 'queue' || given.options?.fairKey === undefined, {
    path: ['options', 'fairKey'],
    error: 'cannot be combined with overlap "queue", which gives its runs an orderingKey',
  })
  .refine((given) => given.overlap !== 'queue' || given.options?.concurrencyKey === undefined, {
    path: ['options', 'concurrencyKey'],
    error: 'cannot be combined with overlap "queue", which already limits it to one run at a time',
  })
