import type { SecretInput } from '../endpoints/transport-configs.ts'

/** Sends the event byte for byte. */
export interface NoneTransformInput {
  /** Which transform this is. */
  readonly type: 'none'
}

/** JSON with placeholders. */
export interface TemplateTransformInput {
  /** Which transform this is. */
  readonly type: 'template'
  /** A JSON value whose texts have placeholders like `{{ order.id }}`, or the text of such JSON; empty sends the event as it is. */
  readonly template?: unknown
  /** What becomes of a placeholder without value and without default: `error` by default. */
  readonly missing?: 'error' | 'null' | 'omit' | undefined
  /** For batches: a template around the rendered messages, which knows `$items` and `$count`. */
  readonly envelope?: unknown
}

/** Whatever a JSONata expression computes. */
export interface JsonataTransformInput {
  /** Which transform this is. */
  readonly type: 'jsonata'
  /** The expression, 16 KiB at most. The payload is its input. */
  readonly expression: string
  /** How long one evaluation may take, in milliseconds, 100 by default and 5,000 at most. */
  readonly timeoutMs?: number | undefined
  /** True: the expression gets an array of payloads, always, and makes one request of it. */
  readonly batch?: boolean | undefined
}

/** A CloudEvent 1.0. */
export interface CloudeventsTransformInput {
  /** Which transform this is. */
  readonly type: 'cloudevents'
  /** `structured` (default): an envelope in JSON; `binary`: the attributes as `ce-…` headers, the payload as the body. */
  readonly mode?: 'structured' | 'binary' | undefined
  /** A URI or a path; may have placeholders. */
  readonly source: string
  /** May have placeholders; left out when it comes to nothing. */
  readonly subject?: string | undefined
  /** The schema that the payload adheres to; may have placeholders. */
  readonly dataschema?: string | undefined
  /** The `type` for messages that were sent without one. */
  readonly defaultEventType?: string | undefined
  /** Further attributes: names of lower-case letters and digits; texts (with placeholders), whole numbers or booleans. */
  readonly extensions?: Readonly<Record<string, string | number | boolean>> | undefined
}

/** Who did it, in a learning record: always under a pseudonym or an address that you give. */
export interface LearningActorInput {
  /** How the learner is named: an `account` on your platform (default), or an e-mail address, plain (`mbox`) or hashed (`mbox_sha1sum`). */
  readonly type?: 'account' | 'mbox' | 'mbox_sha1sum' | undefined
  /** Where the name comes from: a keyed `hash` of the user, a `map` in this config, or a `table` of yours. */
  readonly from: 'hash' | 'map' | 'table'
  /** What of the event names the user: `username` (default) or `user_id`. */
  readonly identifier?: 'username' | 'user_id' | undefined
  /** The key of `hash`, at least 16 characters, stored encrypted. */
  readonly key?: SecretInput | undefined
  /** The names of `map`, by user; `*` stands for all others. */
  readonly map?: Readonly<Record<string, string>> | undefined
  /** The table of `table`, with the columns `key` and `value`, like `public.learners`. */
  readonly table?: string | undefined
}

/** Where the names of courses come from. */
export interface LearningCoursesInput {
  /** A `map` in this config, a `table` of yours, or `none`: then they are called by their ids. */
  readonly from: 'map' | 'table' | 'none'
  /** The names of `map`, by course; `*` stands for all others. */
  readonly map?: Readonly<Record<string, string>> | undefined
  /** The table of `table`, with the columns `key` and `value`. */
  readonly table?: string | undefined
}

/** Templates for what a learning record says otherwise. */
export interface LearningOverridesInput {
  /** Instead of the verb. */
  readonly verb?: unknown
  /** Instead of the object. */
  readonly object?: unknown
  /** Added to the extensions. */
  readonly extensions?: unknown
}

/** What `xapi` and `caliper` share. */
export interface CommonLearningInput {
  /** The address of the platform that the events come from, like `https://learn.example`. */
  readonly platformUrl: string
  /** How learners are named. */
  readonly actor: LearningActorInput
  /** How courses are named; by their ids when left out. */
  readonly courses?: LearningCoursesInput | undefined
  /** Names or patterns of the events that are meant; all others are skipped. */
  readonly events?: readonly string[] | undefined
  /** Templates for what records say otherwise. */
  readonly overrides?: LearningOverridesInput | undefined
  /** How records are identified: as Holdfast does (default), or as the platform's own transformers do (`compatible`). */
  readonly ids?: 'holdfast' | 'compatible' | undefined
  /** What becomes of an event that has no record: a dead letter (default), or it is skipped. */
  readonly onUnknown?: 'skip' | 'dead' | undefined
  /** What becomes of an event that nobody did: a dead letter (default), or it is skipped. */
  readonly onAnonymous?: 'skip' | 'dead' | undefined
  /** What becomes of an event that lacks what its record needs: a dead letter (default), or it is skipped. */
  readonly onInvalid?: 'skip' | 'dead' | undefined
}

/** xAPI statements of learning events. */
export interface XapiTransformInput extends CommonLearningInput {
  /** Which transform this is. */
  readonly type: 'xapi'
}

/** Caliper events of learning events. */
export interface CaliperTransformInput extends CommonLearningInput {
  /** Which transform this is. */
  readonly type: 'caliper'
}

/** What shape an event gets on its way along a route. */
export type TransformConfigInput =
  | NoneTransformInput
  | TemplateTransformInput
  | JsonataTransformInput
  | CloudeventsTransformInput
  | XapiTransformInput
  | CaliperTransformInput
