// Brings an element into view, and says whether a click would reach it.
function () {
  const element = this.nodeType === Node.ELEMENT_NODE ? this : this.parentElement;
  if (!element?.isConnected) return { is: 'gone' };
  if (element.matches(':disabled')) return { is: 'disabled' };
  // The list of a closed choice is drawn by the system, where no click reaches it.
  const choice = element instanceof HTMLOptionElement ? element.closest('select') : null;
  if (choice) {
    if (choice.matches(':disabled')) return { is: 'disabled' };
    element.selected = choice.multiple ? !element.selected : true;
    choice.dispatchEvent(new Event('input', { bubbles: true }));
    choice.dispatchEvent(new Event('change', { bubbles: true }));
    return { is: 'chosen' };
  }
  element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
  const box = [...element.getClientRects()].find((box) => box.width > 0 && box.height > 0);
  if (!box) return { is: 'hidden' };
  const at = [box.left + box.width / 2, box.top + box.height / 2];
  const top = element.getRootNode().elementFromPoint(...at);
  const labels = [...(element.labels ?? [])];
  const reaches = (one) => one === top || one.contains(top) || top.contains(one);
  if (top && ![element, ...labels].some(reaches)) {
    const words = (top.innerText ?? '').toWellFormed().trim().slice(0, 80);
    return { is: 'covered', by: `${top.localName} ${JSON.stringify(words)}` };
  }
  return { is: 'ready' };
}
