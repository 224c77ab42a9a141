package shell

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/spf13/cobra"

	"voltbus/fault"
)

// Format is how a command prints its rows.
type Format struct {
	Name string
	JSON bool // --json, short for --format json
}

// Register adds the flags to a command.
func (f *Format) Register(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.Name, "format", "f", "table", "table, csv or json")
	cmd.Flags().BoolVar(&f.JSON, "json", false, "short for --format json: one object a line")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"table", "csv", "json"}, cobra.ShellCompDirectiveNoFileComp))
}

// Rows prints rows with named columns. Values are strings, numbers, booleans, raw JSON or nil.
type Rows interface {
	Row(values ...any) error
	End() error
}

// Open starts the output.
func (f *Format) Open(w io.Writer, columns ...string) (Rows, error) {
	name := f.Name
	if f.JSON && name == "csv" {
		return nil, Usage(errors.New("--json and --format csv exclude each other: leave one away"))
	}
	if f.JSON {
		name = "json"
	}
	switch name {
	case "table":
		t := &tableRows{w: tabwriter.NewWriter(w, 2, 4, 2, ' ', 0)}
		return t, t.line(columns)
	case "csv":
		c := &csvRows{w: csv.NewWriter(w)}
		return c, c.w.Write(columns)
	case "json":
		return &jsonRows{w: bufio.NewWriter(w), columns: columns}, nil
	}
	return nil, fault.E("voltbus", fault.Invalid, "--format", fmt.Errorf("%q is not known; write table, csv or json", f.Name))
}

type tableRows struct{ w *tabwriter.Writer }

func (t *tableRows) Row(values ...any) error {
	cells := make([]string, len(values))
	for i, v := range values {
		cells[i] = Plain(Cell(v))
		if raw, ok := v.(json.RawMessage); ok && len(raw) > 0 && raw[0] != '"' {
			cells[i] = short(cells[i])
		}
	}
	return t.line(cells)
}

func (t *tableRows) line(cells []string) error {
	_, err := fmt.Fprintln(t.w, strings.Join(cells, "\t"))
	return err
}

func (t *tableRows) End() error { return t.w.Flush() }

// short rounds a number with many digits for people; the other formats keep them all.
func short(s string) string {
	if f, err := strconv.ParseFloat(s, 64); err == nil && len(s) > 10 && strings.ContainsAny(s, ".e") {
		return strconv.FormatFloat(f, 'g', 7, 64)
	}
	return s
}

// Plain makes text from a device safe for a terminal: control characters could move the cursor, or fake other
// rows; characters that change the writing direction, or have no width, could disguise the text.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r) || strings.ContainsRune("\u200b\u2060\ufeff", r) {
			return '·'
		}
		return r
	}, s)
}

type csvRows struct{ w *csv.Writer }

func (c *csvRows) Row(values ...any) error {
	cells := make([]string, len(values))
	for i, v := range values {
		cells[i] = Cell(v)
	}
	return c.w.Write(cells)
}

func (c *csvRows) End() error {
	c.w.Flush()
	return c.w.Error()
}

type jsonRows struct {
	w       *bufio.Writer
	columns []string
}

func (j *jsonRows) Row(values ...any) error {
	for i, v := range values {
		data, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("print JSON: %w", err)
		}
		lead := ','
		if i == 0 {
			lead = '{'
		}
		if _, err := fmt.Fprintf(j.w, "%c%q:%s", lead, j.columns[i], data); err != nil {
			return err
		}
	}
	_, err := j.w.WriteString("}\n")
	return err
}

func (j *jsonRows) End() error { return j.w.Flush() }

// Cell formats a value for a table or CSV.
func Cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case *float64:
		if v == nil {
			return ""
		}
		return fmt.Sprintf("%.6g", *v)
	case json.RawMessage:
		var s string
		if string(v) == "null" {
			return ""
		}
		if json.Unmarshal(v, &s) == nil {
			return s
		}
		return string(v)
	}
	return fmt.Sprint(v)
}
