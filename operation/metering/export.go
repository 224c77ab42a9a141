package metering

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"path"
	"strconv"
	"time"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/meter/vee"
	"voltbus/operation"
)

// File requests the readings of many meters.
type File struct {
	Meters   string `json:"meters" api:"query,max=64,default=*" doc:"Which meters: a pattern of their ids with *, ? and [a-z], such as 1EMH*"`
	Channel  int    `json:"channel" api:"min=0,max=65535,default=0" doc:"Only this channel of each; 0 for all"`
	From     string `json:"from" api:"required,max=40" doc:"Intervals that end after it, as 2026-03-01T00:00:00Z"`
	To       string `json:"to" api:"required,max=40" doc:"and not after it"`
	KnownAt  string `json:"knownAt" api:"max=40" doc:"As it was known at this moment; now if left out"`
	Versions bool   `json:"versions" doc:"All versions, not only the one that counts"`
	Format   string `json:"format" api:"one-of=csv|parquet,default=csv"`
}

const mediaParquet = "application/vnd.apache.parquet"

// Export is the operation that writes the readings of many meters.
var Export = operation.Declare[File, operation.None](operation.Spec{
	Name: "meter.export", ID: "exportMeterReadings", HTTP: "GET /metering/export", Role: identity.Viewer, Stream: operation.Exports,
	Formats: []string{"text/csv", mediaParquet},
	Summary: "Read the readings of many meters, as a file", Result: "The file",
	Doc: "Columns meter, channel, end, value, unit, stage, status, recorded, who, rule and reason, by meter in the order of registration, then channel and end. " +
		"CSV is sent as it is read; Parquet is prepared on the node's disk. A file that cannot be completed ends with a cut connection.",
})

// Files makes Parquet files.
type Files interface {
	// Parquet has fill write a table as CSV, with a header, and writes it to w as a Parquet file.
	Parquet(ctx context.Context, fill func(io.Writer) error, w io.Writer) error
}

// columns returns the columns of exported readings.
func columns() []string {
	return []string{"meter", "channel", "end", "value", "unit", "stage", "status", "recorded", "who", "rule", "reason"}
}

var (
	errPattern   = errors.New("write a pattern of ids with *, ? and [a-z], such as 1EMH*")
	errNoParquet = errors.New("the store of this node writes no Parquet files: ask for csv")
)

func (p *Part) export(ctx context.Context, _ *operation.Call, in *File, to operation.Stream) error {
	const op = "meter.export"
	of, err := p.window(op, in.From, in.To, in.KnownAt)
	if err != nil {
		return err
	}
	if _, err := path.Match(in.Meters, ""); err != nil {
		return fault.E(op, fault.Invalid, "meters", errPattern)
	}
	name := "meters-" + of.from.In(p.Zone).Format(time.DateOnly) + "."
	fill := func(w io.Writer) error { return p.table(ctx, in, of, w) }
	if in.Format != "parquet" {
		to.Begin(operation.Head{Media: "text/csv; charset=utf-8", File: name + "csv"})
		return fill(to)
	}
	if p.Files == nil {
		return fault.E(op, fault.Unavailable, "format", errNoParquet)
	}
	to.Begin(operation.Head{Media: mediaParquet, File: name + "parquet"})
	return p.Files.Parquet(ctx, fill, to)
}

// metersAtOnce is how many meters are looked up at once.
const metersAtOnce = 1000

// table writes readings as CSV, meter by meter.
func (p *Part) table(ctx context.Context, in *File, of window, w io.Writer) error {
	out := &rows{to: csv.NewWriter(bufio.NewWriterSize(w, 32<<10))}
	out.put(columns()...)
	for after := ""; ; {
		list, err := p.Store.Meters(ctx, after, metersAtOnce)
		if err != nil {
			return err
		}
		for i := range list {
			if ok, _ := path.Match(in.Meters, list[i].ID); !ok {
				continue
			}
			if err := p.meterRows(ctx, &list[i], in, of, out); err != nil {
				return err
			}
		}
		if len(list) < metersAtOnce {
			return out.end()
		}
		after = list[len(list)-1].ID
	}
}

// meterRows writes the readings of a meter.
func (p *Part) meterRows(ctx context.Context, m *meter.Meter, in *File, of window, out *rows) error {
	for i := range m.Channels {
		c := &m.Channels[i]
		if in.Channel != 0 && c.Number != in.Channel {
			continue
		}
		r := channelReader{store: p.Store, key: store.ChannelKey{Meter: m.ID, Channel: c.Number}, long: c.Interval == 0 || c.Interval >= time.Minute, all: in.Versions}
		err := r.read(ctx, of, func(list []meter.Version) error {
			for i := range list {
				out.version(m.ID, c, &list[i])
			}
			return out.to.Error()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// rows is a table being written.
type rows struct{ to *csv.Writer }

func (r *rows) put(values ...string) { _ = r.to.Write(values) } // the writer keeps its first error

func (r *rows) end() error {
	if r.to.Flush(); r.to.Error() != nil {
		return fault.E("meter.export", fault.Canceled, "", r.to.Error())
	}
	return nil
}

const secondsFormat = "2006-01-02T15:04:05.999999Z07:00"

func (r *rows) version(id string, c *meter.Channel, v *meter.Version) {
	status := ""
	if v.Status != 0 {
		status = vee.Status(v.Status).String()
	}
	r.put(id, strconv.Itoa(c.Number), v.End.UTC().Format(secondsFormat), strconv.FormatFloat(v.Value, 'g', -1, 64), c.Unit(), v.Stage.String(), status,
		v.Recorded.UTC().Format(secondsFormat), v.Origin.Who, v.Origin.Rule, v.Origin.Reason)
}
