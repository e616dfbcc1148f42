/** JSON Schemas of the parts of Caliper 1.2 that are sent, written from its specification (envelope, event, entities, profiles). */

const iri = { type: 'string', pattern: '^[a-zA-Z][a-zA-Z0-9+.-]*:[^\\s<>"{}|\\\\^`]+$' }
/** An entity may be known by a blank node where it has no address of its own. */
const entityId = { anyOf: [iri, { type: 'string', pattern: '^_:[A-Za-z0-9]+$' }] }
const dateTime = { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' }
const duration = {
  type: 'string',
  pattern: '^P(?=\\d|T\\d)(?:\\d+D)?(?:T(?=\\d)(?:\\d+H)?(?:\\d+M)?(?:\\d+(?:\\.\\d+)?S)?)?$',
}

const entity = (types: readonly string[], properties: object = {}) => ({
  type: 'object',
  required: ['id', 'type'],
  properties: {
    id: entityId,
    type: { enum: types },
    name: { type: 'string' },
    extensions: { type: 'object' },
    ...properties,
  },
})

const score = entity(['Score'], {
  scoreGiven: { type: 'number' },
  maxScore: { type: 'number' },
  attempts: { type: 'number' },
})

/** The profiles: which actions and objects a type of event may have. */
const profiles: Readonly<Record<string, { actions: readonly string[]; objects: readonly string[] }>> = {
  Event: {
    actions: ['Activated', 'Deactivated', 'Completed', 'Viewed'],
    objects: ['CourseOffering', 'Annotation'],
  },
  MediaEvent: {
    actions: [
      'Started',
      'Ended',
      'Paused',
      'Resumed',
      'JumpedTo',
      'ChangedSpeed',
      'EnabledClosedCaptioning',
      'DisabledClosedCaptioning',
    ],
    objects: ['VideoObject', 'AudioObject', 'MediaObject'],
  },
  NavigationEvent: {
    actions: ['NavigatedTo'],
    objects: ['DigitalResource', 'DigitalResourceCollection', 'Webpage', 'SoftwareApplication'],
  },
  AssessmentEvent: {
    actions: ['Started', 'Paused', 'Resumed', 'Restarted', 'Reset', 'Submitted'],
    objects: ['Assessment'],
  },
  AssessmentItemEvent: { actions: ['Started', 'Completed', 'Skipped'], objects: ['AssessmentItem'] },
  GradeEvent: { actions: ['Graded'], objects: ['Attempt'] },
}

const event = {
  type: 'object',
  required: ['@context', 'id', 'type', 'actor', 'action', 'object', 'eventTime'],
  properties: {
    '@context': { const: 'http://purl.imsglobal.org/ctx/caliper/v1p2' },
    id: { type: 'string', pattern: '^urn:uuid:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$' },
    type: { enum: Object.keys(profiles) },
    actor: entity(['Person']),
    eventTime: dateTime,
    target: entity(['MediaLocation'], { currentTime: duration }),
    session: entity(['Session']),
    extensions: { type: 'object' },
    // The specification has the score itself here; consumers of the platform's events know it under a name.
    generated: { anyOf: [score, { type: 'object', required: ['score'], properties: { score } }] },
  },
  additionalProperties: true,
  oneOf: Object.entries(profiles).map(([type, { actions, objects }]) => ({
    properties: { type: { const: type }, action: { enum: actions }, object: entity(objects, { duration }) },
  })),
}

export const caliperEventSchema = event

export const caliperEnvelopeSchema = {
  type: 'object',
  required: ['sensor', 'sendTime', 'dataVersion', 'data'],
  properties: {
    sensor: iri,
    sendTime: dateTime,
    dataVersion: { const: 'http://purl.imsglobal.org/ctx/caliper/v1p2' },
    data: { type: 'array', minItems: 1, items: event },
  },
  additionalProperties: false,
}
