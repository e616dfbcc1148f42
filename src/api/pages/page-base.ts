/**
 * The relative URL from a page to the root: `/endpoints/crm` is two levels deep, so `../`. A reverse proxy may serve Holdfast under any prefix that
 * it strips, without configuration.
 */
export function pageBase(url: string): string {
  const path = url.split('?', 1)[0] ?? ''
  const depth = path.split('/').length - 2
  return depth <= 0 ? './' : '../'.repeat(depth)
}
