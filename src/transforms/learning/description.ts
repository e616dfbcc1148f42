import { z } from 'zod'
import { type SecretInput, secretInput } from '../../core/endpoints/secret-input.ts'

/** Who did it, in a learning record: always under a pseudonym or an address that you give. */
export interface LearningActorInput {
  /** How the learner is named: an `account` on your platform (default), or an e-mail address, plain (`mbox`) or hashed (`mbox_sha1sum`). */
  readonly type?: 'account' | 'mbox' | 'mbox_sha1sum' | undefined
  /** Where the name comes from: a keyed `hash` of the user, a `map` in this config, or a `table` of yours. */
  readonly from: 'hash' | 'map' | 'table'
  /** The field of the event that identifies the user: `username` (default) or `user_id`. */
  readonly identifier?: 'username' | 'user_id' | undefined
  /** The key of `hash`, at least 16 characters, stored encrypted. */
  readonly key?: SecretInput | undefined
  /** The names of `map`, by user; `*` means all others. */
  readonly map?: Readonly<Record<string, string>> | undefined
  /** The table of `table`, with the columns `key` and `value`, like `public.learners`. */
  readonly table?: string | undefined
}

/** Where the names of courses come from. */
export interface LearningCoursesInput {
  /** A `map` in this config, a `table` of yours, or `none`: courses are then named by their ids. */
  readonly from: 'map' | 'table' | 'none'
  /** The names of `map`, by course; `*` means all others. */
  readonly map?: Readonly<Record<string, string>> | undefined
  /** The table of `table`, with the columns `key` and `value`. */
  readonly table?: string | undefined
}

/** Templates that override parts of a learning record. */
export interface LearningOverridesInput {
  /** Instead of the verb. */
  readonly verb?: unknown
  /** Instead of the object. */
  readonly object?: unknown
  /** Added to the extensions. */
  readonly extensions?: unknown
}

/** Fields that `xapi` and `caliper` share. */
export interface CommonLearningInput {
  /** The address of the platform that the events come from, like `https://learn.example`. */
  readonly platformUrl: string
  /** How learners are named. */
  readonly actor: LearningActorInput
  /** How courses are named; by default by their ids. */
  readonly courses?: LearningCoursesInput | undefined
  /** Names or patterns of the events to transform; all others are skipped. */
  readonly events?: readonly string[] | undefined
  /** Templates that override parts of the records. */
  readonly overrides?: LearningOverridesInput | undefined
  /** How records are identified: as Holdfast does (default), or as the platform's own transformers do (`compatible`). */
  readonly ids?: 'holdfast' | 'compatible' | undefined
  /** What happens to an event without a mapping: it becomes a dead letter (default) or is skipped. */
  readonly onUnknown?: 'skip' | 'dead' | undefined
  /** What happens to an event without a learner: it becomes a dead letter (default) or is skipped. */
  readonly onAnonymous?: 'skip' | 'dead' | undefined
  /** What happens to an event that lacks a required field: it becomes a dead letter (default) or is skipped. */
  readonly onInvalid?: 'skip' | 'dead' | undefined
}

const nameMap = z.record(z.string(), z.string())
const learningActor = z
  .strictObject({
    type: z.enum(['account', 'mbox', 'mbox_sha1sum']).optional(),
    from: z.enum(['hash', 'map', 'table']),
    identifier: z.enum(['username', 'user_id']).optional(),
    key: secretInput.optional(),
    map: nameMap.optional(),
    table: z.string().optional(),
  })
  .meta({ id: 'LearningActorInput' }) satisfies z.ZodType<unknown, LearningActorInput>
const learningCourses = z
  .strictObject({
    from: z.enum(['map', 'table', 'none']),
    map: nameMap.optional(),
    table: z.string().optional(),
  })
  .meta({ id: 'LearningCoursesInput' }) satisfies z.ZodType<unknown, LearningCoursesInput>
const learningOverrides = z
  .strictObject({
    verb: z.unknown().optional(),
    object: z.unknown().optional(),
    extensions: z.unknown().optional(),
  })
  .meta({ id: 'LearningOverridesInput' }) satisfies z.ZodType<unknown, LearningOverridesInput>
const outcome = z.enum(['skip', 'dead']).optional()
/** Fields that `xapi` and `caliper` share. */
export const learningFields = {
  platformUrl: z.string().max(2000),
  actor: learningActor,
  courses: learningCourses.optional(),
  events: z.array(z.string()).max(200).optional(),
  overrides: learningOverrides.optional(),
  ids: z.enum(['holdfast', 'compatible']).optional(),
  onUnknown: outcome,
  onAnonymous: outcome,
  onInvalid: outcome,
}
