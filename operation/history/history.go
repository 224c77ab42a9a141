// Package history declares and carries out the operations on the history of points.
package history

import (
	"context"
	"time"

	"voltbus/api/answer"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/point"
	"voltbus/query"
	"voltbus/store"
)

// Engine answers queries of this node's history, as package query does.
type Engine interface {
	Latest(ctx context.Context, sel query.Selection) ([]point.Sample, error)
	Range(ctx context.Context, req query.Request) (query.Answer, error)
	Plot(ctx context.Context, req query.Request, pixels int) (query.Answer, error)
	Aggregate(ctx context.Context, req query.Request, how query.Aggregation) (query.Summaries, error)
	Completeness(ctx context.Context, m query.HeatMap) (query.Heat, error)
	Export(ctx context.Context, req query.Request, emit func([]point.Sample) error) error
	ExportParquet(ctx context.Context, req query.Request, file string) (int64, error)
}

// Wide answers as an Engine does, including data of descendants that this node does not have yet, as package federation does.
type Wide interface {
	Latest(ctx context.Context, sel query.Selection) (query.Newest, error)
	Range(ctx context.Context, req query.Request) (query.Answer, error)
	Plot(ctx context.Context, req query.Request, pixels int) (query.Answer, error)
	Aggregate(ctx context.Context, req query.Request, how query.Aggregation) (query.Summaries, error)
	// Export calls begin, before emit, with what is known about other nodes.
	Export(ctx context.Context, req query.Request, begin func([]query.Source), emit func([]point.Sample) error) error
	ExportParquet(ctx context.Context, req query.Request, file string) ([]query.Source, error)
}

// The arguments.
type (
	// Selection names points, or a pattern.
	Selection struct {
		Points  []string `json:"points" api:"as=point" doc:"A path, repeated for several; not together with pattern"`
		Pattern *string  `json:"pattern" api:"max=1024"`
	}
	// Span selects samples with from ≤ time < to.
	Span struct {
		Selection
		From operation.Time `json:"from" api:"default=-1h" doc:"Such as 2026-01-31T12:00:00Z, now-1h, or milliseconds since 1970"`
		To   operation.Time `json:"to" api:"default=now"`
	}
	// Pages splits the points of a pattern into pages.
	Pages struct {
		Page  int    `json:"page" api:"min=1,max=2000" doc:"With pattern: most points of one answer"`
		After string `json:"after" doc:"The next of the page before"`
	}
	// Reach tells whether descendants are asked, too.
	Reach struct {
		Local bool `json:"local" doc:"Answer from this node's store alone. Otherwise descendants are asked for what they have not sent yet, for at most two seconds (half a second for newest samples, 20 seconds for an export), and sources says how that went"`
	}
	// Now requests newest samples.
	Now struct {
		Selection
		Reach
	}
	// Stretch requests samples.
	Stretch struct {
		Span
		Limit  int  `json:"limit" api:"min=1,max=10000000" doc:"Most samples of a point"`
		Newest bool `json:"newest" doc:"With limit: the newest samples instead of the oldest"`
		Pages
		Reach
	}
	// Drawing requests what a plot can show.
	Drawing struct {
		Span
		Pixels int    `json:"pixels" api:"min=10,max=10000,default=800"`
		Format string `json:"format" api:"one-of=samples|columns,default=samples" doc:"samples are pairs of time and value; columns are the same in a third of the size, for a page that draws many points"`
		Reach
	}
	// Steps requests summaries.
	Steps struct {
		Span
		Step      string   `json:"step" api:"default=1h" doc:"A number with ms, s, m, h, d, w, mo, q or y"`
		Zone      string   `json:"zone" api:"max=64" doc:"A time zone of the IANA database, such as Europe/Berlin"`
		Functions []string `json:"functions" api:"commas" doc:"Figures that the buckets give as values, separated by commas: mean, min, max, sum, count, first, last, timeweighted, stddev, median, p0 to p100 such as p95 or p99.9"`
		Pages
		Reach
	}
	// Heat requests a heat map.
	Heat struct {
		Pattern string         `json:"pattern" api:"max=1024"`
		From    operation.Time `json:"from" api:"default=-1d"`
		To      operation.Time `json:"to" api:"default=now"`
		Steps   int            `json:"steps" api:"min=1,max=1000,default=48" doc:"Cells of a row that are wanted"`
		Depth   int            `json:"depth" api:"max=64" doc:"Segments of a row's path; 0 for a row for each device, or for each folder of points without one"`
		Limit   int            `json:"limit" api:"min=1,max=1000,default=200" doc:"Most rows"`
		After   string         `json:"after" doc:"The next of the page before"`
	}
	// File requests a file of samples.
	File struct {
		Span
		Format string `json:"format" api:"one-of=csv|parquet|arrow,default=csv"`
		Cells  string `json:"cells" api:"one-of=text" doc:"With text, points and texts in CSV that begin with = + - @ get an apostrophe before them, so that no spreadsheet takes them for a formula; numbers stay numbers"`
		Reach
	}
	// Statement is an SQL statement.
	Statement struct {
		Statement string `json:"statement" api:"required" doc:"At most 32 KiB, all of which the audit log holds"`
		Limit     int    `json:"limit" api:"min=1,max=1000000,default=10000"`
	}
)

const statementBytes = 256 << 10

// The operations.
var (
	Latest = operation.Declare[Now, answer.Latest](operation.Spec{
		Name: "history.latest", ID: "getLatest", Method: "latest", HTTP: "GET /latest", Role: identity.Viewer, Remote: true, Granted: true,
		Summary: "Read the newest sample of each point that has any", Result: "In the order asked, or in path order",
	})
	Range = operation.Declare[Stretch, answer.Range](operation.Spec{
		Name: "history.range", ID: "getRange", Method: "range", HTTP: "GET /range", Role: identity.Viewer, Remote: true, Granted: true,
		Summary: "Read the samples with from ≤ time < to", Result: "The samples",
	})
	Plot = operation.Declare[Drawing, answer.Range](operation.Spec{
		Name: "history.plot", ID: "getPlot", HTTP: "GET /plot", Role: identity.Viewer, Schema: "Plot",
		Summary: "Read what a plot of a width in pixels can show; no peak is lost",
		Result:  "All samples (step 0), or the first, least, greatest and last of each step",
	})
	Aggregate = operation.Declare[Steps, answer.Aggregate](operation.Spec{
		Name: "history.aggregate", ID: "getAggregate", Method: "aggregate", HTTP: "GET /aggregate", Role: identity.Viewer, Remote: true, Granted: true,
		Summary: "Summarise a time in steps; bad samples are only counted", Result: "Steps that hold samples",
		Doc: "Without a zone steps begin at from, and days, weeks and months are of UTC. With one they lie at its round local times: a day may have " +
			"23 or 25 hours. The first and the last bucket know only what lies between from and to. A query that would read or answer too much is " +
			"refused at once, with what to ask instead. `timeweighted` is the mean in which each value counts until the next one, and at most three " +
			"intervals of the point, or a day if its interval is unknown; bad samples end it. Percentiles are exact, interpolated between two samples. " +
			"`stddev` is that of all samples of a bucket.",
	})
	Completeness = operation.Declare[Heat, answer.Completeness](operation.Spec{
		Name: "history.completeness", ID: "getCompleteness", HTTP: "GET /completeness", Role: identity.Viewer,
		Summary: "Draw a heat map of how complete the history is, a row for each branch and a cell for each step", Result: "The heat map",
		Doc: "Rows are in path order and in pages. Steps of more than half an hour are rounded up to whole hours that begin on the hour of UTC, and " +
			"from and to widen with them: the answer names those that it is about. A step shorter than a point's interval expects nothing of it. " +
			"It is about what is stored here: descendants are not asked.",
	})
	Export = operation.Declare[File, operation.None](operation.Spec{
		Name: "history.export", ID: "export", HTTP: "GET /export", Role: identity.Viewer, Stream: operation.Exports,
		Formats: []string{"text/csv", "application/vnd.apache.parquet", "application/vnd.apache.arrow.stream"}, Header: answer.SourcesHeader + ": Sources",
		Summary: "Read all samples with from ≤ time < to, as a file", Result: "The file",
		Doc: "CSV has the columns point, time, value, kind and quality. Parquet has the columns of the store, and so has the Arrow IPC stream. CSV and " +
			"Arrow are sent as they are read, by point and then time; Parquet is by day, then point, then time. A file that cannot be completed ends " +
			"with a cut connection. The header Voltbus-Sources says which descendants were asked for what they have not sent yet, and because of which " +
			"of them something is missing in the file: those first, as far as 4,000 bytes hold. It is absent if there are none.",
	})
	SQL = operation.Declare[Statement, operation.None](operation.Spec{
		Name: "sql.query", ID: "runSQL", HTTP: "POST /sql", Role: identity.Engineer, Audited: true, Body: statementBytes, Stream: operation.Statements,
		Formats: []string{"application/x-ndjson"},
		Summary: "Run a read-only statement of SQL over the history", Result: "Lines of JSON",
		Doc: `The answer is lines of JSON: first {"columns": [names]}, then one array a row, at last {"rows": n}, with "truncated": true if the limit ended ` +
			`it, or {"error": problem}. It reads what is stored here: descendants are not asked.`,
	})
)

// Part carries out the operations on the history.
type Part struct {
	Engine  Engine           // nil if there is no history
	Wide    Wide             // nil: answers come from this node's store alone
	SQL     store.SQL        // nil if there is none
	TempDir string           // where files are prepared; "" for the system's
	Now     func() time.Time // the clock
}

// Operations lists the operations of the part.
func (p *Part) Operations() []operation.Bound {
	return []operation.Bound{
		operation.BindWritten(Latest, has[Now](p), p.latest),
		operation.BindWritten(Range, has[Stretch](p), p.ranged),
		operation.BindWritten(Plot, has[Drawing](p), p.plot),
		operation.Bind(Aggregate, has[Steps](p), p.aggregate),
		operation.Bind(Completeness, has[Heat](p), p.completeness),
		operation.BindStream(Export, has[File](p), p.export),
		operation.BindStream(SQL, p.mayState, p.statement),
	}
}
