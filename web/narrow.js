// The one width below which the page is laid out as on a phone: styles/phone.css asks the same question.

const query = matchMedia('(max-width: 760px)');

export const isNarrow = () => query.matches;

/** @param {() => void} listener */
export const onNarrowChange = (listener) => query.addEventListener('change', listener);
