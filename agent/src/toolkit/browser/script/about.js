// What a page is, in short.
(() => ({
  title: document.title.slice(0, 300),
  url: location.href.slice(0, 2000),
  status: performance.getEntriesByType('navigation')[0]?.responseStatus ?? 0,
  elements: document.getElementsByTagName('*').length,
}))()
