package api

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"voltbus/api/exchange"
)

// What a browser may load on behalf of an answer, and of the page. Neither allows scripts that
// stand in the document: text of a device that got there would not run.
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

var (
	errCSRF  = errors.New("a change asked by a page needs the header X-Voltbus: 1, or must come from this node's own page")
	errCross = errors.New("another site asked for this; open this node's own page")
)

// checkHost refuses names that are not ours: a page elsewhere may have its own name point to us.
func (s *server) checkHost(r *http.Request) error {
	if len(s.cfg.Hosts) == 0 {
		return nil
	}
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.Trim(host, "[]"), ".")
	if slices.ContainsFunc(s.cfg.Hosts, func(h string) bool { return strings.EqualFold(h, host) }) {
		return nil
	}
	return exchange.Fail(http.StatusMisdirectedRequest, fmt.Errorf(
		"this node does not answer by the name %.100q; open it as %s, or let it listen on another address than loopback",
		host, strings.Join(s.cfg.Hosts, ", ")))
}

// checkOrigin refuses changes that another site made the browser send with our cookie.
func checkOrigin(r *http.Request) error {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return nil
	}
	if r.Header.Get("Sec-Fetch-Site") == "same-origin" || r.Header.Get("X-Voltbus") == "1" {
		return nil
	}
	return exchange.Fail(http.StatusForbidden, errCSRF)
}
