/** Why an event has no statement. The code is stable; the message says which field is wrong, and what to do. */
export class LearningError extends Error {
  readonly code: LearningErrorCode

  constructor(code: LearningErrorCode, message: string) {
    super(message)
    this.name = 'LearningError'
    this.code = code
  }
}

export type LearningErrorCode =
  | 'learning_unknown_event'
  | 'learning_event_not_listed'
  | 'learning_anonymous'
  | 'learning_unknown_learner'
  | 'learning_missing_field'
  | 'learning_wrong_type'
  | 'learning_bad_timestamp'
  | 'learning_bad_json'
  | 'learning_override_failed'
