/** The identifiers of xAPI's public vocabularies that statements about learning events use. */

export interface Verb {
  readonly id: string
  readonly display: { readonly en: string }
}

function verb(base: string, name: string): Verb {
  return Object.freeze({ id: `${base}/${name}`, display: Object.freeze({ en: name }) })
}

const adl = 'http://adlnet.gov/expapi/verbs'
const tincan = 'http://id.tincanapi.com/verb'
const video = 'https://w3id.org/xapi/video/verbs'
const acrossx = 'https://w3id.org/xapi/acrossx/verbs'
const dodIsd = 'https://w3id.org/xapi/dod-isd/verbs'
const openedx = 'https://w3id.org/xapi/openedx/verb'

export const verbs = {
  asked: verb(adl, 'asked'),
  attempted: verb(adl, 'attempted'),
  completed: verb(adl, 'completed'),
  failed: verb(adl, 'failed'),
  initialized: verb(adl, 'initialized'),
  interacted: verb(adl, 'interacted'),
  passed: verb(adl, 'passed'),
  progressed: verb(adl, 'progressed'),
  registered: verb(adl, 'registered'),
  terminated: verb(adl, 'terminated'),
  earned: verb(tincan, 'earned'),
  unregistered: verb(tincan, 'unregistered'),
  viewed: verb(tincan, 'viewed'),
  paused: verb(video, 'paused'),
  played: verb(video, 'played'),
  seeked: verb(video, 'seeked'),
  edited: verb(acrossx, 'edited'),
  evaluated: verb(acrossx, 'evaluated'),
  posted: verb(acrossx, 'posted'),
  reported: verb(acrossx, 'reported'),
  deleted: verb(dodIsd, 'deleted'),
  navigated: verb(dodIsd, 'navigated'),
  unreported: verb(openedx, 'unreported'),
  voted: verb(openedx, 'voted'),
} as const

export const activities = {
  attempt: 'http://adlnet.gov/expapi/activities/attempt',
  course: 'http://adlnet.gov/expapi/activities/course',
  discussion: 'http://id.tincanapi.com/activitytype/discussion',
  hint: 'https://w3id.org/xapi/acrossx/extensions/supplemental-info',
  interaction: 'http://adlnet.gov/expapi/activities/cmi.interaction',
  link: 'http://adlnet.gov/expapi/activities/link',
  module: 'http://adlnet.gov/expapi/activities/module',
  practiceExam: 'https://w3id.org/xapi/openedx/activity/practice-assessment',
  proctoredExam: 'https://w3id.org/xapi/openedx/activity/proctored-assessment',
  question: 'http://adlnet.gov/expapi/activities/question',
  resource: 'http://id.tincanapi.com/activitytype/resource',
  solution: 'http://id.tincanapi.com/activitytype/solution',
  timedExam: 'https://w3id.org/xapi/openedx/activity/timed-assessment',
  video: 'https://w3id.org/xapi/video/activity-type/video',
} as const

export const extensions = {
  attemptCompleted: 'https://w3id.org/xapi/openedx/extension/attempt-completed',
  attemptId: 'http://id.tincanapi.com/extension/attempt-id',
  attemptStarted: 'https://w3id.org/xapi/openedx/extension/attempt-started',
  captions: 'https://w3id.org/xapi/video/extensions/cc-enabled',
  duration: 'http://id.tincanapi.com/extension/duration',
  endingPoint: 'http://id.tincanapi.com/extension/ending-point',
  grade: 'http://www.tincanapi.co.uk/activitytypes/grade_classification',
  length: 'https://w3id.org/xapi/video/extensions/length',
  progress: 'https://w3id.org/xapi/cmi5/result/extensions/progress',
  session: 'https://w3id.org/xapi/openedx/extensions/session-id',
  speedFrom: 'https://w3id.org/xapi/openedx/extension/speed-from',
  speedTo: 'https://w3id.org/xapi/openedx/extension/speed-to',
  startingPosition: 'http://id.tincanapi.com/extension/starting-position',
  time: 'https://w3id.org/xapi/video/extensions/time',
  timeFrom: 'https://w3id.org/xapi/video/extensions/time-from',
  timeLimit: 'https://w3id.org/xapi/acrossx/extensions/time-limit',
  timeTo: 'https://w3id.org/xapi/video/extensions/time-to',
  totalItems: 'https://w3id.org/xapi/acrossx/extensions/total-items',
  transformer: 'https://w3id.org/xapi/openedx/extension/transformer-version',
  type: 'https://w3id.org/xapi/acrossx/extensions/type',
} as const
