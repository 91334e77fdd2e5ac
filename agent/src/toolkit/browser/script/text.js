// The words of a page as they are seen.
(() => {
  const text = (document.body?.innerText ?? document.documentElement?.textContent ?? '').toWellFormed();
  return { text: text.slice(0, 2000000).toWellFormed(), length: text.length };
})()
