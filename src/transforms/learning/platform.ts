import { LearningError } from './learning-error.ts'

/** Creates IRIs for the objects of a platform. */
export class Platform {
  /** Without a trailing slash. */
  readonly url: string

  constructor(url: string) {
    this.url = url.replace(/\/+$/, '')
  }

  course(courseId: string): string {
    return this.iri('course', courseId)
  }

  /** A block, or a part of it: its hints, its attempts. */
  block(usageKey: string, ...below: readonly string[]): string {
    return this.iri('xblock', usageKey, ...below)
  }

  user(name: string): string {
    return this.iri('user', name)
  }

  iri(...steps: readonly string[]): string {
    return `${this.url}/${steps.map(inIri).join('/')}`
  }

  /** Returns an absolute link unchanged; resolves a relative one against its page. */
  link(target: string, page: string | undefined): string {
    if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return inIri(target)
    try {
      return inIri(new URL(target, page ?? `${this.url}/`).href)
    } catch {
      throw new LearningError('learning_wrong_type', `"${target.slice(0, 200)}" is not an address.`)
    }
  }
}

/** Characters that an IRI can't contain; a percent sign must start an escape. */
const forbidden = /[\s\p{Cc}\p{Cs}<>"{}|\\^`]|%(?![0-9a-f]{2})/iu
const halfOfPair = /\p{Cs}/u
const allForbidden = new RegExp(forbidden, 'giu')

function inIri(text: string): string {
  return forbidden.test(text)
    ? text.replace(allForbidden, (character) =>
        encodeURIComponent(halfOfPair.test(character) ? '\ufffd' : character),
      )
    : text
}

/**
 * The full usage key of a block of which an event has only the last part.
 *
 * @example usageKey('course-v1:acme+py+2030', 'video', '0b9e') // 'block-v1:acme+py+2030+type@video+block@0b9e'
 */
export function usageKey(courseId: string, type: string, id: string): string {
  if (/^(?:block-v1|ccx-block-v1|lib-block-v1):|^i4x:\/\//.test(id)) return id
  const dashed = /^i4x-([^-]+)-(.+)-([^-]+)-([^-]+)$/.exec(id)
  if (dashed !== null) return `i4x://${dashed.slice(1).join('/')}`
  const key = /^(course|ccx|library)-v1:(.+)$/.exec(courseId)
  if (key !== null) {
    const prefix = { course: 'block-v1', ccx: 'ccx-block-v1', library: 'lib-block-v1' }[key[1] ?? 'course']
    return `${prefix}:${key[2]}+type@${type}+block@${id}`
  }
  // Course ids from before 2014: org/course/run.
  const [org, course] = courseId.split('/')
  if (org !== undefined && course !== undefined) return `i4x://${org}/${course}/${type}/${id}`
  throw new LearningError('learning_wrong_type', `"${courseId.slice(0, 200)}" is not the id of a course.`)
}
