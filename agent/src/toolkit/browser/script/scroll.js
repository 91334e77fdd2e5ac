// Scrolls what an element stands in, or brings the element into view.
function (to) {
  const element = this.nodeType === Node.ELEMENT_NODE ? this : (this.parentElement ?? this.documentElement);
  if (!element?.isConnected) return { is: 'gone' };
  const page = document.scrollingElement ?? document.documentElement;
  let box = element;
  if (to === 'here') {
    element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
  }
  while (box && box !== page && !(box.scrollHeight > box.clientHeight && /auto|scroll/.test(getComputedStyle(box).overflowY))) {
    box = box.parentElement;
  }
  box ??= page;
  const shown = box === page ? innerHeight : box.clientHeight;
  const top = { up: box.scrollTop - shown * 0.9, down: box.scrollTop + shown * 0.9, top: 0, bottom: box.scrollHeight }[to];
  if (top !== undefined) box.scrollTo({ top, behavior: 'instant' });
  return { is: 'ready', top: Math.round(box.scrollTop), shown: Math.round(shown), height: box.scrollHeight };
}
