// Package mongodb sends readings to MongoDB, as a document each. The key of a document is point and time: what is sent again replaces
// what is there. A collection for time series would be smaller, but has no keys: there a reading would be twice after a crash.
package mongodb

import (
	"context"
	"fmt"
	"slices"

	"voltbus/fault"
	wire "voltbus/protocol/mongodb"
	"voltbus/sink/destination"
	"voltbus/sink/setting"
)

// Kind is the kind of these destinations.
func Kind() destination.Kind { return destination.Kind{Make: open, Batch: 5000, Parallel: 4} } //nolint:mnd // some MB

// commandBytes bounds the documents of a command; the server takes 48 MB.
const commandBytes = 16 << 20

type writer struct {
	*server

	into string
}

func open(s *setting.Sink, _ destination.Environment) (destination.Writer, error) {
	to, err := newServer(s)
	if err != nil {
		return nil, err
	}
	return &writer{server: to, into: s.Into}, nil
}

// Write implements destination.Writer.
func (w *writer) Write(ctx context.Context, rows []destination.Row) (list []destination.Refusal, err error) {
	c, err := w.take(ctx)
	if err != nil {
		return nil, err
	}
	list, err = w.insert(ctx, c, rows)
	w.give(c, err)
	if err != nil {
		return nil, fault.E("sinks.Append", fault.Unavailable, w.entry.URL, w.plain(err))
	}
	return list, nil
}

// insert inserts rows, and then replaces those whose key was there: inserting is several times faster, and most rows are new.
func (w *writer) insert(ctx context.Context, c *wire.Conn, rows []destination.Row) ([]destination.Refusal, error) {
	all := make([]int, len(rows))
	for i := range all {
		all[i] = i
	}
	there, list, err := w.send(ctx, c, &order{"insert", "documents", appendInsert}, rows, all)
	if err != nil || len(there) == 0 {
		return list, err
	}
	double, more, err := w.send(ctx, c, &order{"update", "updates", appendReplace}, rows, there)
	for _, i := range double { // of another unique index
		more = append(more, destination.Refusal{Row: i, Reason: "another reading has the same value in a unique index of the collection"})
	}
	return append(list, more...), err
}

// order is a command for rows.
type order struct {
	name, sequence string
	appendRow      func([]byte, *destination.Row) []byte
}

// send sends a command for some rows, and returns which of them are there already, and which are refused.
func (w *writer) send(ctx context.Context, c *wire.Conn, o *order, rows []destination.Row, some []int) (there []int, list []destination.Refusal, err error) {
	body := w.body(o.name)
	for len(some) > 0 {
		var documents []byte
		n := 0
		for n < len(some) && len(documents) < commandBytes {
			documents = o.appendRow(documents, &rows[some[n]])
			n++
		}
		a, err := c.Do(ctx, &wire.Command{Body: body, Name: o.sequence, Documents: documents})
		if err != nil {
			return nil, nil, err
		}
		double, refused, err := judge(a, some[:n])
		if err != nil {
			return nil, nil, err
		}
		there, list = append(there, double...), append(list, refused...)
		some = some[n:]
	}
	return there, list, nil
}

// body is a command without its documents: the rows do not depend on each other, and are on the disk of most members when it is answered.
func (w *writer) body(command string) []byte {
	b, all := wire.Begin(nil)
	b = wire.String(b, command, w.into)
	b = wire.Bool(b, "ordered", false)
	b, at := wire.Within(b, "writeConcern")
	b = wire.End(wire.Bool(wire.String(b, "w", "majority"), "j", true), at)
	return wire.End(wire.String(b, "$db", w.database), all)
}

// duplicateKey is the code of the error of a row whose key is there.
const duplicateKey = 11000

// The errors of single rows that come again whenever they are sent (error codes of MongoDB): BadValue, FailedToParse, TypeMismatch,
// InvalidBSON, DollarPrefixedFieldName, EmptyFieldName, DocumentValidationFailure, and those of documents or keys that are too large.
var aboutRows = []int64{2, 9, 14, 22, 52, 56, 121, 10334, 17280, 17419, 17420} //nolint:gochecknoglobals // a table

// judge says what became of the rows of a command.
func judge(a wire.Document, some []int) (there []int, list []destination.Refusal, err error) {
	failed, _ := a["writeErrors"].([]any)
	for _, one := range failed {
		d, _ := one.(wire.Document)
		index, known := d["index"].(int64)
		code, _ := d["code"].(int64)
		text, _ := d["errmsg"].(string)
		switch {
		case !known || index < 0 || int(index) >= len(some):
			return nil, nil, fmt.Errorf("it tells an error of a row that was not sent: %s", text)
		case code == duplicateKey:
			there = append(there, some[index])
		case slices.Contains(aboutRows, code):
			list = append(list, destination.Refusal{Row: some[index], Reason: text})
		default:
			return nil, nil, &wire.Error{Code: code, Name: "of a row", Text: text}
		}
	}
	if concern, _ := a["writeConcernError"].(wire.Document); concern != nil {
		text, _ := concern["errmsg"].(string)
		return nil, nil, fmt.Errorf("it does not confirm that the readings are on the disk of most members: %s", text)
	}
	return there, list, nil
}

// Probe implements destination.Prober: it changes a document that is not there, which needs the rights that sending does.
func (w *writer) Probe(ctx context.Context) error {
	b, all := wire.Begin(nil)
	b, at := wire.Within(b, "q")
	b = wire.End(wire.String(b, "_id", "a probe"), at)
	b, at = wire.Within(b, "u")
	b, set := wire.Within(b, "$set")
	b = wire.End(wire.End(wire.String(b, "quality", "good"), set), at)
	c, err := w.take(ctx)
	if err != nil {
		return err
	}
	a, err := c.Do(ctx, &wire.Command{Body: w.body("update"), Name: "updates", Documents: wire.End(b, all)})
	w.give(c, err)
	if err == nil {
		_, _, err = judge(a, []int{0})
	}
	if err != nil {
		return fault.E("sinks.Try", fault.Unavailable, w.entry.URL, w.plain(err))
	}
	return nil
}
