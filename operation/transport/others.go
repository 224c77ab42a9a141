package transport

import (
	"encoding/json"
	"net/http"

	"voltbus/agent"
	"voltbus/api/answer"
	"voltbus/identity"
	"voltbus/operation"
)

// The arguments.
type (
	// Installation is how an agent is installed.
	Installation struct {
		Name     string `json:"name" api:"required,max=64"`
		Entry    string `json:"entry" doc:"Which of the package's agents, if it has several"`
		Grant    string `json:"grant" api:"one-of=all|none|refuse,default=refuse" doc:"What to do with the grants that it wants: give them (administrators only), give none, or refuse to install it if it wants more than it has"`
		Memory   int64  `json:"memory" api:"min=0" doc:"Most bytes of memory; 0 keeps what it was"`
		Priority int    `json:"priority" api:"min=0,max=99" doc:"Place in the order of starts, first 0"`
	}
	// Relay is a request to another node.
	Relay struct {
		Name    string                     `json:"name" api:"required,max=64" doc:"The name of the node"`
		Agent   string                     `json:"agent" api:"min=1,default=node" doc:"An agent there; node for the node itself"`
		Method  string                     `json:"method" api:"required,min=1"`
		Args    []json.RawMessage          `json:"args" doc:"Arguments by place"`
		Kwargs  map[string]json.RawMessage `json:"kwargs" doc:"Arguments by name"`
		Timeout float64                    `json:"timeout" api:"max=300,default=30" doc:"Seconds to wait for the answer"`
	}
)

// Other operations that the adapter answers itself.
var (
	Install = operation.Declare[Installation, answer.Process](operation.Spec{
		Name: "agent.install", ID: "installProcess", HTTP: "PUT /agents/{name}/process", Role: identity.Engineer, Body: agent.MaxUpload, Carried: upload,
		Summary: "Install an agent or another version of one", Result: "The agent",
		Form: operation.Form{Reads: []operation.Content{{
			Media: "application/gzip", Doc: "A compressed tar with source/ and one file in it, a wheel or an archive, and wheels/ with what it needs; at most 256 MiB",
		}}},
	})
	CallNode = operation.Declare[Relay, answer.CallResult](operation.Spec{
		Name: "node.call", ID: "callNode", HTTP: "POST /nodes/{name}/call", Role: identity.Viewer, Audited: true, Body: call, Carried: relay,
		Summary: "Call a method of an agent of another node, or of that node itself, through the tree of nodes", Result: "What it returned",
		Doc: "What viewers may ask of the node itself are the methods that only read (ping, inspect, points, latest, range, aggregate, get, who, " +
			"schedule, listen); agents and commands need the role operator. Each node on the way judges what its neighbour may do there: the parent by " +
			"the grants of the child, the child by uplink.allow of its configuration. 502 at once if a node on the way is not connected; the answer " +
			`says which and since when. 403 with "missing" and "node" if one refuses, 422 with "raised" if the method itself failed. The audit logs of ` +
			"both ends are told.",
	})
	LabReport = operation.Declare[Run, string](operation.Spec{
		Name: "lab.report", ID: "getLabReport", HTTP: "GET /lab/runs/{id}/report", Role: identity.Viewer, Media: "text/html", Carried: page,
		Summary: "Read the report of a finished run, one page without scripts", Result: "The page",
	})
	Health = operation.Declare[Nothing, answer.Health](operation.Spec{
		Name: "node.health", ID: "getHealth", HTTP: "GET /health", Role: identity.Nobody, Carried: itself,
		Summary: "Tell whether all is well; details only with a login", Result: "It works",
		Form: operation.Form{Greets: true, Answers: []operation.Content{{Status: 503, Schema: "Health", Doc: "It does not work"}}},
	})
	Document = operation.Declare[Nothing, json.RawMessage](operation.Spec{
		Name: "api.document", ID: "getDocument", HTTP: "GET /openapi.yaml", Role: identity.Viewer, Media: "application/yaml", Carried: itself,
		Summary: "Read this document", Result: "OpenAPI 3.1",
	})
	Metrics = operation.Declare[Nothing, string](operation.Spec{
		Name: "node.metrics", ID: "getMetrics", HTTP: "GET /metrics", Role: identity.Viewer, Media: "text/plain", Carried: itself,
		Summary: "Read measurements for Prometheus", Result: "Text format 0.0.4", Form: operation.Form{Root: true},
	})
)

func others() []operation.Declared {
	return []operation.Declared{
		Install.Declared(), CallNode.Declared(), LabReport.Declared(), Health.Declared(), Document.Declared(), Metrics.Declared(),
	}
}

// The arguments of Prometheus' API, which checks them itself.
type (
	query struct {
		Query    string `json:"query" doc:"PromQL"`
		Time     string `json:"time"`
		Timeout  string `json:"timeout"`
		Lookback string `json:"lookback_delta"`
		Limit    string `json:"limit"`
	}
	queryRange struct {
		Query    string `json:"query" doc:"PromQL"`
		Start    string `json:"start"`
		End      string `json:"end"`
		Step     string `json:"step"`
		Timeout  string `json:"timeout"`
		Lookback string `json:"lookback_delta"`
		Limit    string `json:"limit"`
	}
	selector struct {
		Match []string `json:"match[]" doc:"A selector, repeated for several"`
		Start string   `json:"start"`
		End   string   `json:"end"`
		Limit string   `json:"limit"`
	}
	label struct {
		Name string `json:"name" api:"required"`
		selector
	}
	metric struct {
		Metric string `json:"metric"`
		Limit  string `json:"limit"`
	}
	text struct {
		Query string `json:"query" doc:"PromQL"`
	}
)

const formBody = 512 << 10

// Prometheus lists the query part of Prometheus' API, as Grafana uses it. Each request may use GET or a form.
func Prometheus() (list []operation.Declared) {
	add := func(declare func(operation.Spec) operation.Declared, path, name, id, summary string) {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			s := operation.Spec{
				Name: "prometheus." + name, ID: "prometheus" + id, HTTP: method + " /prometheus/api/v1" + path, Role: identity.Viewer, Body: formBody, Carried: foreign,
				Summary: summary + ", as Prometheus answers it", Result: "As Prometheus answers",
				Form: operation.Form{Root: true, Foreign: true, Problem: "PrometheusError"},
			}
			if s.Reads = []operation.Content{}; method == http.MethodPost {
				s.Name, s.ID = s.Name+".form", s.ID+"Form"
				s.Reads = []operation.Content{{Media: "application/x-www-form-urlencoded", Doc: "The arguments, if they are not in the address"}}
			}
			list = append(list, declare(s))
		}
	}
	add(prometheus[query], "/query", "query", "Query", "Ask a query of PromQL at one time")
	add(prometheus[queryRange], "/query_range", "range", "QueryRange", "Ask a query of PromQL over a time")
	add(prometheus[selector], "/series", "series", "Series", "List the series that selectors choose")
	add(prometheus[selector], "/labels", "labels", "Labels", "List the names of labels")
	add(prometheus[label], "/label/{name}/values", "label", "LabelValues", "List the values of a label")
	add(prometheus[metric], "/metadata", "metadata", "Metadata", "Tell what the metric is")
	add(prometheus[Nothing], "/status/buildinfo", "version", "BuildInfo", "Tell the version of the query language")
	add(prometheus[text], "/format_query", "format", "FormatQuery", "Write a query in its usual form")
	add(prometheus[Nothing], "/rules", "rules", "Rules", "List the rules, of which there are none")
	return list
}

func prometheus[In any](s operation.Spec) operation.Declared {
	return operation.Declare[In, answer.Prometheus](s).Declared()
}
