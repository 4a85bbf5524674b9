/*
 * Asks for /status.json every two seconds, and shows what draw.js makes of it.
 * What is on the page already is changed in place, so that a selection and the
 * focus stay where they are.
 */
(function () {
	"use strict";
	var FEW = 50, MOST = 1000; /* names that are asked for */
	var filter = document.getElementById("filter");
	var sort = document.getElementById("sort");
	var limit = FEW;
	var heard = null, last = null, timer = null, round = 0;

	/* Makes the children of `now` those of `then`. */
	function morph(now, then) {
		var next = now.firstChild, want = then.firstChild, after, copy;
		while (want) {
			after = want.nextSibling;
			if (!next || next.nodeName !== want.nodeName) {
				now.insertBefore(want, next);
			} else {
				copy = next;
				next = next.nextSibling;
				become(copy, want);
			}
			want = after;
		}
		while (next) {
			after = next.nextSibling;
			next.remove();
			next = after;
		}
	}
	function become(now, then) {
		if (now.nodeType === Node.TEXT_NODE) {
			if (now.data !== then.data)
				now.data = then.data;
			return;
		}
		Array.from(now.attributes).forEach(function (a) {
			if (a.name !== "open" && !then.hasAttribute(a.name))
				now.removeAttribute(a.name);
		});
		Array.from(then.attributes).forEach(function (a) {
			if (now.getAttribute(a.name) !== a.value)
				now.setAttribute(a.name, a.value);
		});
		now.onclick = then.onclick;
		morph(now, then);
	}
	function put(id, nodes) {
		var then = document.createElement("div");
		then.append.apply(then, nodes);
		morph(document.getElementById(id), then);
	}
	function selecting() {
		var s = window.getSelection();
		return s && !s.isCollapsed;
	}
	function name_asked() {
		return new URLSearchParams(location.search).get("name");
	}
	/* Where the page is not safe (http:), only the old way works. */
	function copy(text, button) {
		var area = document.createElement("textarea");
		button.textContent = "Copied";
		if (navigator.clipboard) {
			navigator.clipboard.writeText(text);
			return;
		}
		area.value = text;
		document.body.append(area);
		area.select();
		document.execCommand("copy");
		area.remove();
	}
	function show(status) {
		var view = {
			name: name_asked(), filter: filter.value, limit: limit,
			most: MOST, copy: copy,
			since: Number(new URLSearchParams(location.search)
				.get("since")),
			more: function () { limit = MOST; at_once(); }
		};
		var page = draw.page(status, view);
		heard = new Date();
		last = status;
		if (selecting())
			return;
		document.title = draw.title(status);
		document.body.classList.remove("stale");
		Object.keys(page).forEach(function (id) { put(id, page[id]); });
		document.getElementById("names").hidden = view.name !== null;
	}
	function complain(error) {
		document.title = "No answer - " +
			(last ? last.broker : "lockbroker");
		document.body.classList.add("stale");
		put("now", draw.stale(error, heard));
	}
	function wanted() {
		var ask = new URLSearchParams();
		var name = name_asked();
		if (name) {
			ask.set("name", name);
			ask.set("limit", 0);
			return "/status.json?" + ask;
		}
		if (filter.value)
			ask.set("names", filter.value + "*");
		if (sort.value)
			ask.set("sort", sort.value);
		ask.set("limit", limit);
		return "/status.json?" + ask;
	}
	/* Only the answer to the latest question is shown. */
	function ask() {
		var give_up = new AbortController(), mine = ++round;
		var late = setTimeout(function () { give_up.abort(); }, 5000);
		clearTimeout(timer);
		/* The page's own address may have a password, which is refused. */
		fetch(location.origin + wanted(), { cache: "no-store", signal: give_up.signal })
			.then(function (answer) {
				if (!answer.ok)
					throw new Error("HTTP status " +
						answer.status);
				return answer.json();
			})
			.then(function (status) {
				if (mine === round)
					show(status);
			})
			.catch(function (error) {
				if (mine === round)
					complain(error);
			})
			.then(function () {
				clearTimeout(late);
				if (mine === round)
					timer = setTimeout(later, 2000);
			});
	}
	function later() {
		clearTimeout(timer);
		if (document.hidden)
			timer = setTimeout(later, 2000);
		else
			ask();
	}
	function at_once() {
		clearTimeout(timer);
		timer = setTimeout(ask, 150);
	}
	function note_filter() {
		var url = new URLSearchParams(location.search);
		url.delete("names");
		url.delete("sort");
		if (filter.value)
			url.set("names", filter.value);
		if (sort.value)
			url.set("sort", sort.value);
		limit = FEW;
		history.replaceState(null, "", "/" + (String(url) && "?" + url));
		at_once();
	}
	function begin() {
		var url = new URLSearchParams(location.search);
		filter.value = url.get("names") || "";
		sort.value = url.get("sort") || "";
		filter.addEventListener("input", note_filter);
		sort.addEventListener("change", note_filter);
		filter.form.addEventListener("submit", function (event) {
			event.preventDefault();
		});
		document.addEventListener("visibilitychange", later);
		ask();
	}
	begin();
})();
