package api

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"voltbus/api/exchange"
)

// What a browser may load for an answer, and for the page. Neither allows inline scripts: text of a
// device that ended up in the document would not run.
const (
	policyAnswer = "default-src 'none'; frame-ancestors 'none'"
	policyPage   = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
		"font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)

func secure(h http.Header, policy string) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	if policy == policyAnswer {
		h.Set("Cache-Control", "no-store")
	}
}

// checkHost refuses host names that are not ours: a foreign page may have its own name point to us.
func checkHost(r *http.Request, hosts []string) error {
	if len(hosts) == 0 {
		return nil
	}
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.Trim(host, "[]"), ".")
	if slices.ContainsFunc(hosts, func(h string) bool { return strings.EqualFold(h, host) }) {
		return nil
	}
	return exchange.Fail(http.StatusMisdirectedRequest, fmt.Errorf(
		"this node does not answer by the name %.100q; open it as %s, or let it listen on another address than loopback",
		host, strings.Join(hosts, ", ")))
}
