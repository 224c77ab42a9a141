package regulationtool

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"voltbus/fault"
	"voltbus/regulation/openadr"
	"voltbus/regulation/signal"
)

// openADR holds the arguments of "regulation openadr".
type openADR struct {
	config                         openadr.Config
	secret, program, payload, from string
	length, step                   time.Duration
	low, high                      float64
	regulate                       bool
}

func newOpenADR() *cobra.Command {
	o := openADR{payload: openadr.Price, length: 24 * time.Hour, step: 5 * time.Minute}
	cmd := &cobra.Command{
		Use: "openadr URL", Short: "Get prices or emissions from a server of OpenADR 3", Args: cobra.ExactArgs(1),
		Long: `Get what the events of a program say of prices or emissions from a server (VTN) of OpenADR 3, as CSV: a time and a value at equal
steps. Of events that overlap, the one of higher priority counts. Without --program the programs are listed.

With --low and --high the values become a regulation signal: -1 at low, where more is consumed, and +1 at high.
The secret of the client is read from a file, or from the standard input with --secret-file -.`,
		Example: `  voltbus regulation openadr https://vtn.example/openadr3/3.1.0 --client ven-1 --secret-file secret
  voltbus regulation openadr https://vtn.example/openadr3/3.1.0 --program tariff --payload GHG --low 100 --high 500`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.config.URL = args[0]
			o.regulate = cmd.Flags().Changed("low") || cmd.Flags().Changed("high")
			return o.run(cmd)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&o.config.ID, "client", "", "id of this client; without it no token is asked for")
	fs.StringVar(&o.secret, "secret-file", "", "file with the secret of the client; - for the standard input")
	fs.StringVar(&o.config.Token, "token-url", "", "where tokens are given (default auth/token below URL)")
	fs.StringVar(&o.program, "program", "", "name of the program")
	fs.StringVar(&o.payload, "payload", o.payload, "type of the payload, such as PRICE, EXPORT_PRICE or GHG")
	fs.StringVar(&o.from, "from", "", "begin, RFC 3339 (default now, at a whole step)")
	fs.DurationVar(&o.length, "length", o.length, "length of the signal")
	fs.DurationVar(&o.step, "step", o.step, "time between two values")
	fs.Float64Var(&o.low, "low", 0, "value that becomes -1")
	fs.Float64Var(&o.high, "high", 0, "value that becomes +1")
	return cmd
}

// mostSteps bounds what is written.
const mostSteps = 1_000_000

func (o *openADR) run(cmd *cobra.Command) error {
	if o.step <= 0 || o.length < o.step || o.length/o.step > mostSteps {
		return fault.E("regulation.OpenADR", fault.Invalid, "--length", fmt.Errorf("%s in steps of %s: write a length of 1 to %d steps", o.length, o.step, mostSteps))
	}
	begin := time.Now().UTC().Truncate(o.step)
	if o.from != "" {
		var err error
		if begin, err = time.Parse(time.RFC3339, o.from); err != nil {
			return fault.E("regulation.OpenADR", fault.Invalid, "--from", fmt.Errorf("%q: write a time such as 2026-07-01T00:00:00Z", o.from))
		}
	}
	if err := o.readSecret(cmd.InOrStdin()); err != nil {
		return err
	}
	c, err := openadr.New(o.config)
	if err != nil {
		return err
	}
	if o.program == "" {
		programs, err := c.Programs(cmd.Context(), "")
		for _, p := range programs {
			cmd.Printf("%s\t%s\n", p.Name, p.ID)
		}
		return err
	}
	course, err := openadr.NewWatch(openadr.Watch{Client: c, Program: o.program, Payload: o.payload}).Fetch(cmd.Context())
	if err != nil {
		return err
	}
	s := course.Signal(begin, o.length, o.step)
	if o.regulate {
		if s, err = openadr.Regulate(s, o.low, o.high); err != nil {
			return err
		}
	}
	return write(cmd.OutOrStdout(), begin, s)
}

func (o *openADR) readSecret(in io.Reader) error {
	if o.secret == "" {
		return nil
	}
	if o.secret != "-" {
		f, err := os.Open(o.secret)
		if err != nil {
			return fault.E("regulation.OpenADR", fault.NotFound, o.secret, err)
		}
		defer func() { _ = f.Close() }() // it was only read
		in = f
	}
	const longest = 4096
	text, err := io.ReadAll(io.LimitReader(in, longest))
	o.config.Secret = strings.TrimSpace(string(text))
	return err
}

// write writes a signal as CSV; a step without a value is left out.
func write(out io.Writer, begin time.Time, s *signal.Signal) error {
	w := bufio.NewWriter(out)
	fmt.Fprintln(w, "time,value")
	for i, v := range s.Values {
		if !math.IsNaN(v) {
			fmt.Fprintf(w, "%s,%s\n", begin.Add(time.Duration(i)*s.Step).Format(time.RFC3339), strconv.FormatFloat(v, 'g', -1, 64))
		}
	}
	return w.Flush()
}
