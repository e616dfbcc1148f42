import { caliperDescription } from './caliper/description.ts'
import { cloudeventsDescription } from './cloudevents/description.ts'
import { jsonataDescription } from './jsonata/description.ts'
import { noneDescription } from './none/description.ts'
import { templateDescription } from './template/description.ts'
import type { TransformDescription } from './transform-description.ts'
import { xapiDescription } from './xapi/description.ts'

/** Every transform that comes with Holdfast. The converting code is in `built-in-transforms.ts`. */
export const builtInDescriptions = [
  noneDescription,
  templateDescription,
  jsonataDescription,
  cloudeventsDescription,
  xapiDescription,
  caliperDescription,
] as const

/** The same list with a common type. */
export const transformDescriptions = builtInDescriptions as unknown as readonly TransformDescription[]
