package operation_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/point"
)

// sheet takes a stream, and notes in which order what happens.
type sheet struct {
	bytes.Buffer
	head    operation.Head
	entered int
	full    error
}

func (s *sheet) Enter(context.Context, int) (func(), error) {
	s.entered++
	return func() { s.entered-- }, s.full
}
func (s *sheet) Begin(h operation.Head) { s.head = h }
func (s *sheet) Fail(err error) error   { _, werr := s.WriteString(err.Error()); return werr }

var errBusy = errors.New("too many at this moment")

// streaming is a table with an operation that answers with a stream.
func streaming(told *[]operation.Entry) *operation.Table {
	op := operation.Declare[rename, operation.None](operation.Spec{
		Name: "device.dump", HTTP: "GET /dump", Role: identity.Engineer, Audited: true, Stream: operation.Exports,
	})
	may := func(_ context.Context, c *operation.Call, in *rename) error {
		c.Did(in.Device, nil)
		return nil
	}
	do := func(_ context.Context, _ *operation.Call, in *rename, to operation.Stream) error {
		to.Begin(operation.Head{Media: "text/plain"})
		out := operation.NewOutput(to)
		out.Buf = append(out.Buf, strings.Repeat(in.Device, 40_000)...)
		if err := out.Spill(); err != nil {
			return err
		}
		return out.Flush()
	}
	return operation.NewTable(func(_ context.Context, e operation.Entry) { *told = append(*told, e) }, []operation.Bound{operation.BindStream(op, may, do)})
}

func TestAStreamIsJudgedBeforeItTakesAPlace(t *testing.T) {
	engineer, viewer := operation.Caller{Name: "person:ada", Role: identity.Engineer}, operation.Caller{Name: "person:bob", Role: identity.Viewer}
	tests := map[string]struct {
		who     operation.Caller
		args    string
		full    error
		want    fault.Kind
		octets  int
		subject string
	}{
		"an engineer":                {engineer, `{"device":"a","name":"b"}`, nil, 0, 40_000, "a"},
		"a viewer":                   {viewer, `{"device":"a","name":"b"}`, nil, fault.Refused, 0, ""},
		"wrong arguments":            {engineer, `{"device":"a"}`, errBusy, fault.Invalid, 0, ""},
		"there is no place for more": {engineer, `{"device":"a","name":"b"}`, fault.E("test", fault.Unavailable, "", errBusy), fault.Unavailable, 0, "a"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var told []operation.Entry
			to := &sheet{full: tt.full}
			err := streaming(&told).Stream(t.Context(), &tt.who, "device.dump", arguments(t, tt.args), to)
			if (err == nil) != (tt.want == 0) || (err != nil && !fault.Is(err, tt.want)) || to.Len() != tt.octets {
				t.Errorf("gives %d bytes, %v", to.Len(), err)
			}
			if len(told) != 1 || told[0].Subject != tt.subject || (told[0].Err == nil) != (err == nil) {
				t.Errorf("the audit log was told %+v", told)
			}
			if tt.want == 0 && (to.entered != 0 || to.head.Media != "text/plain") {
				t.Errorf("the place was not given back, or the answer has no type: %+v", to)
			}
		})
	}
	var told []operation.Entry
	if _, err := streaming(&told).Run(t.Context(), &engineer, "device.dump", arguments(t, `{"device":"a","name":"b"}`)); !fault.Is(err, fault.Invalid) {
		t.Errorf("as one answer it gives %v", err)
	}
}

func TestAttackAnAnswerThatStaysInMemoryIsBounded(t *testing.T) {
	var whole operation.Output
	whole.Buf = make([]byte, operation.MostAnswer)
	if err := whole.Spill(); err != nil {
		t.Errorf("the most is refused: %v", err)
	}
	whole.Buf = append(whole.Buf, ' ')
	if err := whole.Spill(); !fault.Is(err, fault.Invalid) {
		t.Errorf("more gives %v", err)
	}
}

func TestAttackWhoReadsByGrantsReadsNoMore(t *testing.T) {
	one, two := identity.Grants{Read: []point.Pattern{"site/**"}}, identity.Grants{Read: []point.Pattern{"site/**", "calc/sum"}}
	tests := map[string]struct {
		who     operation.Caller
		pattern point.Pattern
		narrow  point.Pattern
		out     bool // calc/x is left out
		refused bool
	}{
		"a person of this node":           {operation.Caller{Role: identity.Viewer}, "**", "**", false, false},
		"an agent with one pattern":       {operation.Caller{Agent: "a", Grants: one}, "", "site/**", true, false},
		"an agent that names its own":     {operation.Caller{Agent: "a", Grants: one}, "calc/**", "calc/**", true, false},
		"an agent with two":               {operation.Caller{Agent: "a", Grants: two}, "**", "**", true, false},
		"an agent with nothing":           {operation.Caller{Agent: "a"}, "**", "", false, true},
		"an agent that administers":       {operation.Caller{Agent: "a", Grants: identity.Grants{Administer: true}}, "**", "**", false, false},
		"an administrator over a link":    {operation.Caller{Role: identity.Administrator, Remote: true, Grants: one}, "**", "site/**", true, false},
		"a person over a link of nothing": {operation.Caller{Role: identity.Viewer, Remote: true}, "calc/**", "", false, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			narrow, keep, err := tt.who.Reads(tt.pattern)
			if narrow != tt.narrow || fault.Is(err, fault.Refused) != tt.refused || (keep != nil && keep("calc/x")) == tt.out && keep != nil {
				t.Errorf("reads %q, %v, %v", narrow, keep != nil, err)
			}
			if !tt.refused && tt.out != (tt.who.MayRead("calc/x") != nil) {
				t.Errorf("calc/x: %v", tt.who.MayRead("calc/x"))
			}
		})
	}
}
