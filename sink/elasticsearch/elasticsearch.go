// Package elasticsearch sends readings to Elasticsearch and OpenSearch, by their bulk API: a document for each point and time, whose
// identifier is made of both, so that one that is sent again replaces itself.
package elasticsearch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/sink/destination"
	"voltbus/sink/endpoint"
	"voltbus/sink/setting"
)

// Kind is the kind of these destinations.
func Kind() destination.Kind { return destination.Kind{Make: open, Batch: 5000, Parallel: 4} } //nolint:mnd // about 1 MB

type writer struct {
	*endpoint.Endpoint

	index string
}

func open(s *setting.Sink, _ destination.Environment) (destination.Writer, error) {
	e, err := endpoint.New(s, "ApiKey")
	return &writer{e, s.Into}, err
}

// Write implements destination.Writer.
func (w *writer) Write(ctx context.Context, rows []destination.Row) ([]destination.Refusal, error) {
	body := make([]byte, 0, 250*len(rows)) //nolint:mnd // about the length of a document with its action
	for i := range rows {
		body = w.appendRow(body, &rows[i])
	}
	a, err := w.Do(ctx, &endpoint.Request{
		Path: "/_bulk", Query: url.Values{"filter_path": {"errors,items.*.status,items.*.error"}},
		Header: map[string]string{"Content-Type": "application/x-ndjson"}, Body: body,
	})
	switch {
	case err != nil:
		return nil, err
	case a.Status == http.StatusRequestEntityTooLarge && len(rows) > 1:
		return w.halves(ctx, rows)
	case a.Status == http.StatusRequestEntityTooLarge:
		return []destination.Refusal{{Row: 0, Reason: "it is too large for a request"}}, nil
	case !a.OK():
		return nil, fault.E("sinks.Append", fault.Unavailable, w.index, fmt.Errorf("it answers %d to a bulk request: %s", a.Status, a.Text()))
	}
	return judge(a.Body, len(rows))
}

func (w *writer) halves(ctx context.Context, rows []destination.Row) ([]destination.Refusal, error) {
	middle := len(rows) / 2 //nolint:mnd // halves
	left, err := w.Write(ctx, rows[:middle])
	if err != nil {
		return nil, err
	}
	right, err := w.Write(ctx, rows[middle:])
	for i := range right {
		right[i].Row += middle
	}
	return append(left, right...), err
}

// answer is what a bulk request answers, reduced by filter_path.
type answer struct {
	Errors bool `json:"errors"`
	Items  []map[string]struct {
		Status int             `json:"status"`
		Error  json.RawMessage `json:"error"`
	} `json:"items"`
}

// judge returns the documents that were refused. If one may be accepted later, all are sent again.
func judge(body []byte, rows int) (list []destination.Refusal, err error) {
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, fault.E("sinks.Append", fault.Unavailable, "bulk", fmt.Errorf("the answer cannot be read: %w", err))
	}
	if !a.Errors {
		return nil, nil
	}
	if len(a.Items) != rows {
		return nil, fault.E("sinks.Append", fault.Unavailable, "bulk", fmt.Errorf("the answer is about %d documents, and %d were sent", len(a.Items), rows))
	}
	for i, item := range a.Items {
		for _, one := range item {
			switch {
			case one.Status/100 == 2: //nolint:mnd // 2xx
			case one.Status == http.StatusTooManyRequests || one.Status >= http.StatusInternalServerError:
				return nil, fault.E("sinks.Append", fault.Unavailable, "bulk", fmt.Errorf("it answers %d to a document: %s", one.Status, reason(one.Error)))
			case one.Status == http.StatusUnauthorized || one.Status == http.StatusForbidden:
				return nil, fault.E("sinks.Append", fault.Unavailable, "bulk", fmt.Errorf("the user may not write there; give it the right, or write another user: %s", reason(one.Error)))
			default:
				list = append(list, destination.Refusal{Row: i, Reason: reason(one.Error)})
			}
		}
	}
	return list, nil
}

// reason returns what an error of a document says: its reason, and that of its cause.
func reason(raw json.RawMessage) string {
	var e struct {
		Type, Reason string
		Cause        struct{ Reason string } `json:"caused_by"`
	}
	if json.Unmarshal(raw, &e) != nil || e.Reason == "" {
		return string(raw)
	}
	text := e.Type + ": " + e.Reason
	if e.Cause.Reason != "" {
		text += ": " + e.Cause.Reason
	}
	return text
}

// appendRow adds action and document of a row.
func (w *writer) appendRow(b []byte, r *destination.Row) []byte {
	b = point.AppendQuoted(append(b, `{"index":{"_index":`...), w.index)
	b = point.AppendQuoted(append(b, `,"_id":`...), id(r))
	b = destination.AppendDocument(append(b, "}}\n"...), "@timestamp", r)
	return append(b, '\n')
}

const maxID = 512 // bytes of an identifier

// id returns the identifier of a row: its point and time.
func id(r *destination.Row) string {
	s := string(r.Point) + "@" + strconv.FormatInt(r.Time, 10)
	if len(s) > maxID {
		sum := sha256.Sum256([]byte(s))
		return hex.EncodeToString(sum[:])
	}
	return s
}

// Probe implements destination.Prober.
func (w *writer) Probe(ctx context.Context) error {
	return w.Reach(ctx, &endpoint.Request{Path: "/_bulk", Header: map[string]string{"Content-Type": "application/x-ndjson"}, Body: []byte("\n")})
}
