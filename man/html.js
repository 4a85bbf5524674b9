/* The search of index.html: `entries`, of words.js, are [file, anchor, title, text]. */
"use strict";

const MOST = 50;
const query = document.querySelector("input[type=search]");

/* The lower, the better; -1 if not all words are there. */
function rank([, , title, text], words) {
	const head = title.toLowerCase(), all = `${head} ${text.toLowerCase()}`;
	const parts = head.split(/[^\w-]+/);

	if (!words.every(word => all.includes(word)))
		return -1;
	if (head === words.join(" "))
		return 0;
	if (words.every(word => parts.includes(word)))
		return 1;
	if (words.every(word => parts.some(part => part.startsWith(word))))
		return 2;
	return words.every(word => head.includes(word)) ? 3 : 4;
}

function element(name, text, ...children) {
	const e = document.createElement(name);

	e.append(text, ...children);
	return e;
}

/* The text around the first of the words in it. */
function around(text, words) {
	const places = words.map(word => text.toLowerCase().indexOf(word));
	const near = Math.min(...places.filter(place => place >= 0), text.length) - 60;
	const from = near > 0 ? text.indexOf(" ", near) + 1 : 0;

	return (from ? "… " : "") + text.slice(from, from + 200) +
		(from + 200 < text.length ? " …" : "");
}

function item(entry, words) {
	const [file, anchor, title, text] = entry;
	const link = element("a", title);

	link.href = `${file}#${anchor}`;
	return element("li", link, " ", element("small", file.replace(/\.(\d)\.html$/, "($1)")),
		element("p", around(text, words)));
}

function search() {
	const words = query.value.toLowerCase().split(/\s+/).filter(word => word);
	const found = words.length === 0 ? [] : entries
		.map(entry => [rank(entry, words), entry])
		.filter(([order]) => order >= 0)
		.sort(([a], [b]) => a - b);

	document.getElementById("pages").hidden = words.length > 0;
	document.getElementById("hits").replaceChildren(
		...found.slice(0, MOST).map(([, entry]) => item(entry, words)));
	document.getElementById("count").textContent = words.length === 0 ? "" :
		found.length > MOST ? `${MOST} of ${found.length} places` :
		found.length === 1 ? "1 place" : `${found.length} places`;
	history.replaceState(null, "", words.length === 0 ? "index.html" :
		`index.html?q=${encodeURIComponent(query.value)}`);
}

query.value = new URLSearchParams(location.search).get("q") ?? "";
query.addEventListener("input", search);
query.form.addEventListener("submit", event => event.preventDefault());
search();
