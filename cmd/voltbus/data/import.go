package data

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/cmd/voltbus/shell"
	"voltbus/fault"
	"voltbus/ingest"
	"voltbus/ingest/chunk"
	"voltbus/internal/plural"
)

const (
	maxShown  = 100             // refused readings listed
	patience  = 5 * time.Minute // how long a node may report that it cannot record now
	retryWait = 5 * time.Second // if it does not say how long
)

var (
	errSome     = errors.New("some readings were refused; those that are right are recorded, so correct the others and import them alone")
	errNothing  = errors.New("holds no readings")
	errNoFormat = errors.New("its name does not tell the format; write --format csv, line, json, senml or senml-cbor")
	errParquet  = errors.New("is not read; write CSV with the program that it comes from")
)

// importFormat is a file format.
type importFormat struct {
	name, media string
	format      ingest.Format
	endings     []string
}

func importFormats() []importFormat {
	return []importFormat{
		{"csv", "text/csv", ingest.CSV, []string{".csv", ".tsv"}},
		{"line", "text/plain", ingest.Line, []string{".lp", ".line", ".influx", ".txt"}},
		{"json", "application/json", ingest.JSON, []string{".json"}},
		{"senml", "application/senml+json", ingest.SenML, []string{".senml", ".senml.json"}},
		{"senml-cbor", "application/senml+cbor", ingest.SenMLCBOR, []string{".senmlc", ".cbor"}},
	}
}

// formatFor returns the named format or, without a name, that of the file.
func formatFor(name, file string) (found importFormat, err error) {
	for _, f := range importFormats() {
		if name == f.name {
			return f, nil
		}
		for _, ending := range f.endings {
			if name == "" && strings.HasSuffix(strings.ToLower(file), ending) {
				found = f // the last match is the longest
			}
		}
	}
	switch {
	case found.name != "":
		return found, nil
	case name != "":
		return found, fault.E("voltbus", fault.Invalid, "--format", fmt.Errorf("%q is not known; write csv, line, json, senml or senml-cbor", name))
	case strings.EqualFold(filepath.Ext(file), ".parquet"):
		return found, fault.E("voltbus", fault.Invalid, file, errParquet)
	}
	return found, fault.E("voltbus", fault.Invalid, file, errNoFormat)
}

// NewImport returns the command "import".
func NewImport(f *shell.Flags) *cobra.Command {
	job := &importing{}
	var name string
	cmd := &cobra.Command{
		Use: "import file | -", Short: "Record the readings of a file",
		Long: `Record the readings of a file: CSV as export writes it or with one point a column, InfluxDB line
protocol, SenML, or JSON. The name of the file tells the format, or --format does; - is standard input.

The readings go to the node in chunks. If the command is interrupted, run it again: within the node's
retry window (ingest.retry, 24 hours by default) recorded chunks are not recorded again; after that, a reading with
the same point and time replaces the first one.

  voltbus import meters.csv
  voltbus import --under site/old --precision s archive.lp`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			job.file = args[0]
			if job.format, err = formatFor(name, job.file); err != nil {
				return err
			}
			if err := job.check(); err != nil {
				return err
			}
			in := cmd.InOrStdin()
			if job.file != "-" {
				file, err := OpenFile(job.file)
				if err != nil {
					return err
				}
				defer file.Close()
				in = file
			}
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error { return job.run(ctx, s, in) })
		},
	}
	cmd.Flags().StringVarP(&name, "format", "f", "", "csv, line, json, senml or senml-cbor (default: by the file's name)")
	cmd.Flags().StringVar(&job.under, "under", "", "path to put before every point")
	cmd.Flags().StringVar(&job.precision, "precision", "", "unit of times that are whole numbers: ns, us, ms, s, m or h (default: ns for line, ms for csv and json)")
	cmd.Flags().StringVar(&job.layout, "layout", "", "how line protocol becomes paths, such as {tag:host}/{measurement}/{field}")
	return cmd
}

// OpenFile opens a file for reading, "-" for standard input.
func OpenFile(name string) (*os.File, error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return nil, fault.E("voltbus", fault.Invalid, name, errors.New("is a directory; name a file"))
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, fault.E("voltbus", fault.NotFound, name, fmt.Errorf("read the file: %w", errors.Unwrap(err)))
	}
	return file, nil
}

// importing is the import of a file to a node.
type importing struct {
	file                     string
	format                   importFormat
	under, precision, layout string

	accepted, refused, shown int
	sent                     int64
	begin, drawn             time.Time
}

// check finds usage errors before anything is sent.
func (j *importing) check() error {
	if _, err := ingest.ParsePrecision(j.precision); err != nil {
		return fault.E("voltbus", fault.Invalid, "--precision", err)
	}
	if j.layout == "" {
		return nil
	}
	if j.format.format != ingest.Line {
		return fault.E("voltbus", fault.Invalid, "--layout", errors.New("is for line protocol only"))
	}
	if _, err := ingest.ParseLayout(j.layout); err != nil {
		return fault.E("voltbus", fault.Invalid, "--layout", err)
	}
	return nil
}

func (j *importing) params() url.Values {
	params := url.Values{}
	for name, value := range map[string]string{"under": j.under, "precision": j.precision, "layout": j.layout} {
		if value != "" {
			params.Set(name, value)
		}
	}
	return params
}

// run sends everything, and reports the outcome even if that failed.
func (j *importing) run(ctx context.Context, s shell.Session, in io.Reader) error {
	chunks, err := chunk.New(in, j.format.format, 0)
	if err != nil {
		return err
	}
	j.begin = time.Now()
	err = j.sendAll(ctx, s, chunks)
	if !j.drawn.IsZero() {
		s.PrintErr("\r\033[K")
	}
	if err != nil && j.sent == 0 && ctx.Err() == nil {
		return fault.E("voltbus", fault.KindOf(err), j.file, err)
	}
	s.PrintErrf("recorded %s of %s, refused %d\n", plural.Of(j.accepted, "reading"), shell.Plain(j.file), j.refused)
	switch {
	case err != nil:
		return j.stopped(ctx, err)
	case j.sent == 0:
		return fault.E("voltbus", fault.Invalid, j.file, errNothing)
	case j.refused > j.shown:
		s.PrintErrf("%d more refused, not listed\n", j.refused-j.shown)
	}
	if j.refused > 0 {
		return fault.E("voltbus", fault.Rejected, j.file, errSome)
	}
	return nil
}

// stopped explains how to continue after an error in the middle.
func (j *importing) stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return shell.ErrInterrupted
	}
	return fault.E("voltbus", fault.KindOf(err), j.file, fmt.Errorf("stopped after %s: %w; run the same command again to go on", plural.Of(j.accepted+j.refused, "reading"), err))
}

func (j *importing) sendAll(ctx context.Context, s shell.Session, chunks *chunk.Splitter) error {
	for {
		p, err := chunks.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		got, err := j.send(ctx, s, &p)
		if err != nil {
			return err
		}
		j.accepted += got.Accepted
		j.refused += got.Refused
		j.list(s, &p, got.Errors)
		j.sent = p.Offset + int64(len(p.Body))
		j.draw(s)
	}
}

// send sends one chunk, again if the node cannot record now.
func (j *importing) send(ctx context.Context, s shell.Session, p *chunk.Chunk) (answer.Ingested, error) {
	body := client.Body{Media: j.format.media, Text: p.Body, Params: j.params(), Key: j.key(p)}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		got, err := s.SendSamples(ctx, body)
		if !fault.Is(err, fault.Unavailable) {
			return got, err
		}
		wait, told := client.RetryAfter(err)
		if !told {
			wait = retryWait
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return got, err
		}
	}
}

// key derives a chunk's idempotency key from its content and position, so that a repetition is recognised.
func (j *importing) key(p *chunk.Chunk) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s?%s\n%d\n", j.format.media, j.params().Encode(), p.Offset)
	h.Write(p.Body)
	return "import-" + hex.EncodeToString(h.Sum(nil))
}

// list shows why readings were refused, by their position in the file.
func (j *importing) list(s shell.Session, p *chunk.Chunk, refused []answer.IngestError) {
	if len(refused) > 0 && !j.drawn.IsZero() {
		s.PrintErr("\r\033[K")
	}
	for _, e := range refused[:min(len(refused), maxShown-j.shown)] {
		j.shown++
		subject := ""
		if e.Point != "" {
			subject = shell.Plain(e.Point) + ": "
		}
		s.PrintErrf("%s:%d: %s%s\n", shell.Plain(j.file), p.Line(e.Line), subject, shell.Plain(e.Detail))
	}
}

// draw shows the progress on a terminal, twice a second.
func (j *importing) draw(s shell.Session) {
	if now := time.Now(); now.Sub(j.drawn) > 500*time.Millisecond && shell.Terminal(os.Stderr) {
		j.drawn = now
		seconds := now.Sub(j.begin).Seconds()
		s.PrintErrf("\r%s, %.1f MB, %.0f readings/s ", plural.Of(j.accepted, "reading"), float64(j.sent)/1e6, float64(j.accepted)/seconds)
	}
}
