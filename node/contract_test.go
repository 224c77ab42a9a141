package node_test

import (
	"testing"

	"voltbus/testing/peers"
)

// Endless answers are not judged here: a reader has to leave them. Nor is the lab, which this node
// does not have, nor the web service, whose faults have statuses of their own. One worker asks: in two threads at once CPython 3.11 fails now and then to parse what
// the peer makes requests from.
func TestAnswersToGeneratedRequestsFitTheDocument(t *testing.T) {
	t.Parallel()
	r := run(t, load(t, t.TempDir(), listenWide+zones))
	peers.Schemathesis(t, r.HTTPAddr()+"/api/v1/openapi.yaml", "Authorization: Bearer "+r.token(),
		"--url", r.HTTPAddr(), "--exclude-path-regex", "(stream|events)$|/events/|/log/follow$|/lab/|/capacity$|/metering/soap$", "--phases", "coverage", "--mode", "all", "--seed", "1",
		"--continue-on-failure", "--request-timeout", "20", "--suppress-health-check", "all",
		"--checks", "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,negative_data_rejection,unsupported_method")
}
