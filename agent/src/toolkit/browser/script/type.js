// Makes an element ready for what is typed, or, where nothing can be typed, sets its value.
function (text, replace) {
  const element = this.nodeType === Node.ELEMENT_NODE ? this : this.parentElement;
  if (!element?.isConnected) return { is: 'gone' };
  if (element.matches(':disabled')) return { is: 'disabled' };
  const tell = () => {
    element.dispatchEvent(new Event('input', { bubbles: true }));
    element.dispatchEvent(new Event('change', { bubbles: true }));
    return { is: 'set' };
  };
  if (element instanceof HTMLSelectElement) {
    const options = [...element.options];
    const option = options.find((one) => one.label.trim() === text.trim() || one.value === text);
    if (!option) {
      const labels = options.slice(0, 30).map((one) => one.label.trim().slice(0, 80));
      return { is: 'no option', options: labels.map((label) => label.toWellFormed()) };
    }
    option.selected = true;
    return tell();
  }
  const isInput = element instanceof HTMLInputElement;
  const isField = isInput || element instanceof HTMLTextAreaElement;
  if (isField && element.readOnly) return { is: 'read-only' };
  if (isInput && element.type === 'file') return { is: 'file' };
  if (isInput && ['checkbox', 'radio', 'button', 'submit', 'reset', 'image', 'hidden'].includes(element.type)) {
    return { is: 'no field' };
  }
  if (isInput && ['date', 'time', 'month', 'week', 'datetime-local', 'color', 'range'].includes(element.type)) {
    element.focus();
    const before = element.value;
    element.value = text;
    if (element.value === text) return tell();
    element.value = before;
    return { is: 'no value', type: element.type };
  }
  if (!isField && !element.isContentEditable) return { is: 'no field' };
  element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
  element.focus();
  if (isField) {
    element.select();
    try {
      if (!replace) element.setSelectionRange(element.value.length, element.value.length);
    } catch {
      // Numbers and addresses of mail let nobody choose a place in them but by keys.
      return { is: 'ready', end: true };
    }
  } else {
    const selection = getSelection();
    selection.selectAllChildren(element);
    if (!replace) selection.collapseToEnd();
  }
  return { is: 'ready' };
}
