/**
 * From a page to the root that it is served under, as a relative URL: `/endpoints/crm` is two levels deep, so `../`. A reverse proxy may serve
 * Holdfast under any prefix that it strips, and nobody has to configure which.
 */
export function pageBase(url: string): string {
  const path = url.split('?', 1)[0] ?? ''
  const depth = path.split('/').length - 2
  return depth <= 0 ? './' : '../'.repeat(depth)
}
