package signal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"voltbus/fault"
)

// The bounds of a file.
const (
	maxRows  = 4_000_000 // three months of seconds at two seconds a row
	maxSteps = 8_000_000 // of the signal, with those that are missing
	maxLine  = 4096      // bytes of a line
)

// row is a line of a file with a value.
type row struct {
	at    float64 // s
	value float64
}

// Read reads a file of a regulation signal: a line for each value, with a time and a value between −1 and +1, separated by a comma, a
// semicolon, a tab or spaces, as PJM's RegD was published by the University of Delaware. The time is in seconds, from any zero, or an
// RFC 3339 time; times rise. Empty lines, lines that begin with #, and one line of titles are skipped. The step is the most frequent
// distance of two times; steps without a line are NaN. Errors are fault.Invalid and name the line.
func Read(r io.Reader, name string) (*Signal, error) { return read(r, name, 1) }

// ReadResponse reads a file of the same form whose values have no bounds, such as the response of a resource.
func ReadResponse(r io.Reader, name string) (*Signal, error) { return read(r, name, math.Inf(1)) }

func read(r io.Reader, name string, limit float64) (*Signal, error) {
	rows, err := readRows(r, limit)
	if err != nil {
		return nil, fault.E("signal.Read", fault.Invalid, name, err)
	}
	s, err := align(rows)
	if err != nil {
		return nil, fault.E("signal.Read", fault.Invalid, name, err)
	}
	return s, nil
}

func readRows(r io.Reader, limit float64) ([]row, error) {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, maxLine), maxLine)
	var rows []row
	titles := false
	n := 0
	for in.Scan() {
		n++
		line := strings.TrimSpace(strings.TrimPrefix(in.Text(), "\ufeff"))
		if line == "" || line[0] == '#' {
			continue
		}
		next, err := parseRow(line, limit)
		if err != nil && len(rows) == 0 && !titles && !startsWithDigit(line) {
			titles = true
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if last := len(rows) - 1; last >= 0 && next.at <= rows[last].at {
			return nil, fmt.Errorf("line %d: the time %s is not after that of the line before, %s: sort the lines by time, and leave repeats out",
				n, seconds(next.at), seconds(rows[last].at))
		}
		if len(rows) == maxRows {
			return nil, fmt.Errorf("line %d: a file has at most %d values: divide it", n, maxRows)
		}
		rows = append(rows, next)
	}
	if errors.Is(in.Err(), bufio.ErrTooLong) {
		return nil, fmt.Errorf("line %d: longer than %d bytes: write one time and one value on each line", n+1, maxLine)
	}
	return rows, in.Err()
}

func startsWithDigit(s string) bool { return s[0] >= '0' && s[0] <= '9' || s[0] == '-' || s[0] == '.' }

func parseRow(line string, limit float64) (row, error) {
	cells := strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ';' || r == '\t' || r == ' ' })
	if len(cells) != 2 {
		return row{}, fmt.Errorf("%d columns: write a time and a value, such as 2,-0.25", len(cells))
	}
	at, err := parseTime(cells[0])
	if err != nil {
		return row{}, err
	}
	v, err := strconv.ParseFloat(cells[1], 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return row{}, fmt.Errorf("the value %q is no number: write such as -0.25", cells[1])
	}
	if math.Abs(v) > limit {
		return row{}, fmt.Errorf("the value %s is not between -1 and 1: divide by the capacity, or per cent by 100", cells[1])
	}
	return row{at, v}, nil
}

func parseTime(text string) (float64, error) {
	if at, err := strconv.ParseFloat(text, 64); err == nil && math.Abs(at) < 9e9 {
		return at, nil
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return 0, fmt.Errorf("the time %q is neither seconds nor an RFC 3339 time: write such as 2 or 2013-04-01T00:00:02Z", text)
	}
	return float64(at.UnixMicro()) / 1e6, nil
}

// seconds writes a time as files have it.
func seconds(s float64) string { return strconv.FormatFloat(s, 'f', -1, 64) + " s" }

// align puts rows into equal steps.
func align(rows []row) (*Signal, error) {
	if len(rows) < 2 {
		return nil, fmt.Errorf("%d values: a signal has at least two", len(rows))
	}
	step := frequent(rows)
	first, last := rows[0].at, rows[len(rows)-1].at
	n := math.Round((last-first)/step) + 1
	if n > maxSteps {
		return nil, fmt.Errorf("from %s to %s are more than %d steps of %s: divide the file where values are missing",
			seconds(first), seconds(last), maxSteps, seconds(step))
	}
	if n < 2 {
		return nil, errors.New("all times lie within a millisecond: a signal has steps of at least one")
	}
	s := &Signal{Begin: time.Duration(math.Round(first * float64(time.Second))), Step: time.Duration(math.Round(step * float64(time.Second))), Values: slices.Repeat([]float64{math.NaN()}, int(n))}
	for _, r := range rows {
		s.Values[int(math.Round((r.at-first)/step))] = r.value // of two in one step the later one
	}
	return s, nil
}

// frequent returns the most frequent distance of two times in seconds, of equals the smaller one. Distances are compared in milliseconds.
func frequent(rows []row) float64 {
	counts := map[int64]int{}
	for i := 1; i < len(rows); i++ {
		counts[max(1, int64(math.Round((rows[i].at-rows[i-1].at)*1000)))]++
	}
	best, most := int64(0), 0
	for d, n := range counts {
		if n > most || n == most && d < best {
			best, most = d, n
		}
	}
	return float64(best) / 1000
}
