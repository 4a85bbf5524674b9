/*
 * Asks for the same page again every two seconds and puts what is new in place
 * of what was. Without it the page is whole, and loads itself every ten seconds.
 */
(function () {
	"use strict";
	var stale = document.getElementById("stale");
	var heard = new Date();

	function selecting() {
		var s = window.getSelection();
		return s && !s.isCollapsed;
	}
	function put(fresh) {
		["header", "#now", "main"].forEach(function (part) {
			var now = document.querySelector(part);
			var then = fresh.querySelector(part);
			if (now && then && now.innerHTML !== then.innerHTML)
				now.replaceWith(document.adoptNode(then));
		});
		document.title = fresh.title;
		heard = new Date();
		stale.hidden = true;
	}
	function complain() {
		stale.textContent = "The broker has not answered since " +
			heard.toLocaleTimeString() +
			". What you see is how it was then.";
		stale.hidden = false;
	}
	function ask() {
		var give_up = new AbortController();
		var timer = setTimeout(function () { give_up.abort(); }, 5000);
		fetch(location.href, { cache: "no-store", signal: give_up.signal })
			.then(function (answer) {
				if (!answer.ok)
					throw new Error(answer.status);
				return answer.text();
			})
			.then(function (text) {
				/* Its style is here, under another nonce. */
				text = text.replace(/<style[^]*?<\/style>/, "");
				if (!selecting())
					put(new DOMParser().parseFromString(text,
						"text/html"));
			})
			.catch(complain)
			.then(function () { clearTimeout(timer); later(); });
	}
	/* Whoever comes back to the page is told at once. */
	function later() {
		function go() {
			clearTimeout(timer);
			document.removeEventListener("visibilitychange", go);
			if (document.hidden)
				later();
			else
				ask();
		}
		var timer = setTimeout(go, 2000);
		document.addEventListener("visibilitychange", go);
	}
	later();
})();
